"""Run a sandboxed program until it ends or exceeds a limit."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from easeci.build.disk import DiskUse
from easeci.build.processes import descendants, use_more_than
from easeci.build.sandbox import Launch, Limits, duration_text, size_text
from easeci.errors import InfrastructureError

LOOK_EVERY = 0.05
LOOK_SHARE = 0.05
"""The largest share of the time that checking limits may take."""
ENDING_SECONDS = 20
BLOCK = 1 << 16
LAST_OUTPUT = 1 << 24


@dataclass(frozen=True)
class Stopped:
    """Why we ended the program, and what its owner can do about it."""

    reason: str
    hint: str


@dataclass(frozen=True)
class ProgramOutcome:
    """How it ended. ``began`` is False if the sandbox failed before the program could begin."""

    code: int
    seconds: float
    log: bytes
    began: bool
    stopped: Stopped | None


class Log:
    """The beginning and the end of what a program prints; endless output costs no memory."""

    def __init__(self, limit: int) -> None:
        self._limit = max(limit, 2)
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def add(self, text: bytes) -> None:
        """Take what was printed next."""
        self._total += len(text)
        room = self._limit // 2 - len(self._head)
        self._head += text[:room]
        self._tail += text[room:]
        if len(self._tail) > 2 * self._limit:
            del self._tail[: -self._limit]

    def kept(self) -> bytes:
        """The log, with a note where something is left out."""
        if self._total <= self._limit:
            return bytes(self._head + self._tail)
        tail = self._tail[-(self._limit - len(self._head)) :]
        cut = self._total - len(self._head) - len(tail)
        return b"%s\n[easeci: %d bytes are left out here]\n%s" % (self._head, cut, tail)


class Running:
    """A started sandbox, and the pipes through which it tells what happens."""

    def __init__(self, launch: Launch, uid: int | None) -> None:
        self._beginning, begin = os.pipe()
        self._output, out = os.pipe()
        if uid is not None:
            os.fchown(out, uid, uid)  # so that the program may open /dev/stdout
        self._status = launch.status
        self._told = b""
        self._inner: int | None = None
        try:
            self.process = subprocess.Popen(  # noqa: S603 - no shell
                launch.command,
                stdin=begin,
                stdout=out,
                stderr=out,
                cwd="/",
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
                pass_fds=launch.descriptors,
                start_new_session=True,
            )
        except OSError as error:
            self._close(self._beginning, self._output, *self._status_descriptor())
            raise InfrastructureError(f"the sandbox cannot start: {error.strerror}") from None
        finally:
            self._close(begin, out, *launch.descriptors)
        for descriptor in (self._beginning, self._output, *self._status_descriptor()):
            os.set_blocking(descriptor, False)
        self._selector = selectors.DefaultSelector()
        self._ended = os.pidfd_open(self.process.pid)
        self._selector.register(self._ended, selectors.EVENT_READ)
        self._selector.register(self._output, selectors.EVENT_READ)

    def wait(self, log: Log, seconds: float) -> bool:
        """Collect what is printed, for at most so many seconds; whether the sandbox has ended."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and self.process.poll() is None:
            for key, _ in self._selector.select(left):
                if key.fd == self._output:
                    block = _read(self._output)
                    if block == b"":
                        self._selector.unregister(self._output)
                    log.add(block or b"")
        return self.process.poll() is not None

    @property
    def top(self) -> int | None:
        """The process above all processes of the build; None until the sandbox names it."""
        if self._status is None:
            return self.process.pid
        if self._inner is None:
            self._told += _read(self._status) or b""
            if match := re.search(rb'"child-pid"\s*:\s*(\d+)', self._told):
                with suppress(ProcessLookupError):
                    self._inner = os.pidfd_open(int(match[1]))
                    self._inner_pid = int(match[1])
        return None if self._inner is None else self._inner_pid

    def end(self, log: Log) -> bool:
        """End every process of the build, and return whether the program had begun."""
        held = self.top is not None and self._inner is not None
        if held:
            assert self._inner is not None
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._inner, signal.SIGKILL)
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM if self._status is None else signal.SIGKILL)
        try:
            self.process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        # The first process of a pid namespace is gone only after all others in it are.
        if self._inner is not None:
            selector = selectors.DefaultSelector()
            selector.register(self._inner, selectors.EVENT_READ)
            if not selector.select(ENDING_SECONDS):
                raise InfrastructureError("a process of the build cannot be ended")
            selector.close()
        self._drain(log)
        began = bool(_read(self._beginning))
        self._selector.close()
        inner = () if self._inner is None else (self._inner,)
        self._close(self._beginning, self._output, self._ended, *inner, *self._status_descriptor())
        return began

    def _drain(self, log: Log) -> None:
        taken = 0
        while taken < LAST_OUTPUT and (block := _read(self._output)):
            log.add(block)
            taken += len(block)

    def _status_descriptor(self) -> tuple[int, ...]:
        return () if self._status is None else (self._status,)

    @staticmethod
    def _close(*descriptors: int) -> None:
        for descriptor in descriptors:
            os.close(descriptor)


def run_limited(
    launch: Launch, limits: Limits, folders: tuple[Path, ...], uid: int | None
) -> ProgramOutcome:
    """Run a program within its limits; afterwards none of its processes is left."""
    log = Log(limits.log_bytes)
    disk = DiskUse(folders)  # measured before the program can write anything
    start = time.monotonic()
    stopped: Stopped | None = None
    try:
        running = Running(launch, uid)
        try:
            pause = LOOK_EVERY
            while stopped is None and not running.wait(log, pause):
                looked = time.monotonic()
                stopped = _exceeded(running, limits, disk, looked - start)
                pause = max(LOOK_EVERY, (time.monotonic() - looked) / LOOK_SHARE)
        finally:
            began = running.end(log)
    finally:
        disk.stop()
    seconds = time.monotonic() - start
    return ProgramOutcome(running.process.returncode, seconds, log.kept(), began, stopped)


def _exceeded(running: Running, limits: Limits, disk: DiskUse, seconds: float) -> Stopped | None:
    if seconds > limits.seconds:
        return Stopped(
            f"ran longer than {duration_text(limits.seconds)}",
            "Make it faster, or give it more time with timeout: in the script.",
        )
    top = running.top
    processes = [] if top is None else descendants(top)
    if len(processes) > limits.processes:
        return Stopped(f"started more than {limits.processes} processes", "Let it start fewer.")
    if top is not None and use_more_than(limits.memory_bytes, processes, top):
        return Stopped(
            f"used more than {size_text(limits.memory_bytes)} of memory",
            "Make it smaller, or give it more with memory: in the script.",
        )
    if disk.grown_bytes() > limits.output_bytes:
        return Stopped(
            f"wrote more than {size_text(limits.output_bytes)} of files",
            "Predictions are all that is kept; let it write less.",
        )
    return None


def _read(descriptor: int) -> bytes | None:
    """What is there now: b"" at the end, None if there is nothing yet."""
    try:
        return os.read(descriptor, BLOCK)
    except BlockingIOError:
        return None
