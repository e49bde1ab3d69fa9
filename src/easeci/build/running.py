"""Run a sandboxed program until it ends or exceeds a limit."""

from __future__ import annotations

import os
import re
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from easeci.build.cgroups import open_cgroup
from easeci.build.sandbox import Job, Launch, Sandbox
from easeci.build.watch import Stopped, Usage, Watch, too_slow
from easeci.build.workspace import Workspace
from easeci.errors import InfrastructureError

ENDING_SECONDS = 120
"""How long processes may take to be gone once they were ended."""
BLOCK = 1 << 16
LAST_OUTPUT = 1 << 24


@dataclass(frozen=True)
class ProgramOutcome:
    """How it ended. ``began`` is False if the sandbox failed before the program could begin.

    ``output`` is the open folder of what it wrote, wherever that lies; -1 if it never began.
    """

    code: int
    seconds: float
    log: bytes
    began: bool
    stopped: Stopped | None
    output: int


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
    """A started sandbox, and the descriptors through which it tells what happens."""

    def __init__(self, launch: Launch, uid: int | None) -> None:
        ours, theirs = socket.socketpair()
        self._messages = ours.detach()
        self._output, out = os.pipe()
        if uid is not None:
            os.fchown(out, uid, uid)  # so that the program may open /dev/stdout
        self._status = launch.status
        self._told = b""
        self._inner: int | None = None
        self._inner_pid = 0
        self._is_over = False
        try:
            self.process = subprocess.Popen(  # noqa: S603 - no shell
                launch.command,
                stdin=theirs.fileno(),
                stdout=out,
                stderr=out,
                cwd="/",
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
                pass_fds=launch.descriptors,
                start_new_session=True,
            )
        except OSError as error:
            self._close(self._messages, self._output, *self._status_descriptor())
            raise InfrastructureError(f"the sandbox cannot start: {error.strerror}") from None
        finally:
            theirs.close()
            self._close(out, *launch.descriptors)
        for descriptor in (self._messages, self._output, *self._status_descriptor()):
            os.set_blocking(descriptor, False)
        self._ended = os.pidfd_open(self.process.pid)
        self._selector = selectors.DefaultSelector()
        for descriptor in (self._ended, self._output, self._messages):
            self._selector.register(descriptor, selectors.EVENT_READ)

    @property
    def is_ready(self) -> bool:
        """Whether the sandbox is complete and waits for ``begin``."""
        return b"ready\n" in self._told

    @property
    def has_room(self) -> bool:
        """Whether all that the program can write to has a size of its own."""
        return b"room\n" in self._told

    def wait_until_ready(self, log: Log, until: float) -> bool:
        """Wait for the sandbox to be complete; False if it ended before, or time ran out."""
        while not self.is_ready and not self._wait_once(log, until):
            pass
        return self.is_ready

    def open_output(self, workspace: Workspace) -> int:
        """The folder that the program writes its predictions to, open for as long as we need it.

        A room is gone with the sandbox, except for what is open.
        """
        place = f"/proc/{self.process.pid}/root" if self.has_room else ""
        try:
            return os.open(f"{place}{workspace.output}", os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise InfrastructureError(f"the output cannot be read: {error.strerror}") from None

    def begin(self) -> None:
        """Let the program begin."""
        self._selector.unregister(self._messages)
        with suppress(OSError):  # the sandbox has ended
            os.write(self._messages, b"go\n")

    def wait(self, log: Log, until: float, watch: Watch) -> bool:
        """Collect what is printed until the sandbox ends (True), or a limit or time is exceeded."""
        self._selector.register(watch.wakes, selectors.EVENT_READ)
        while watch.found is None and watch.failure is None:
            if self._wait_once(log, until):
                return self.process.poll() is not None
        return False

    def _wait_once(self, log: Log, until: float) -> bool:
        """Take what comes next; True if the sandbox has ended or there is no more time."""
        left = until - time.monotonic()
        if left <= 0 or self.process.poll() is not None:
            return True
        for key, _ in self._selector.select(left):
            if key.fd == self._output:
                block = _read(self._output)
                if block == b"":
                    self._selector.unregister(self._output)
                log.add(block or b"")
            elif key.fd == self._messages:
                block = _read(self._messages)
                if block == b"":
                    self._selector.unregister(self._messages)
                self._told += block or b""
        return False

    def name_top(self) -> int:
        """The process above all others of the build. A sandbox names it before it is ready."""
        if self._status is None:
            return self.process.pid
        if self._inner is None:
            named = _read(self._status) or b""
            if match := re.search(rb'"child-pid"\s*:\s*(\d+)', named):
                with suppress(ProcessLookupError):
                    self._inner = os.pidfd_open(int(match[1]))
                    self._inner_pid = int(match[1])
        return self.process.pid if self._inner is None else self._inner_pid

    def end(self, log: Log) -> None:
        """End every process of the build, and return only when none is left."""
        if self._is_over:
            return
        self._is_over = True
        self.name_top()
        with suppress(ProcessLookupError):
            if self._inner is not None:
                signal.pidfd_send_signal(self._inner, signal.SIGKILL)
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM if self._status is None else signal.SIGKILL)
        # The first process of a pid namespace is gone only after all others in it are, and the one
        # that supervises ends only after all others have.
        waited_for = [self._ended, *(() if self._inner is None else (self._inner,))]
        if not all(map(_is_gone, waited_for)):
            raise InfrastructureError("the processes of the build cannot be ended")
        self.process.wait()
        self._drain(log)
        self._selector.close()
        self._close(self._messages, self._output, *waited_for, *self._status_descriptor())

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


@contextmanager
def run_limited(sandbox: Sandbox, job: Job) -> Iterator[ProgramOutcome]:
    """Run a program within its limits, and show its output; none of its processes is left."""
    log = Log(job.limits.log_bytes)
    start = time.monotonic()
    with ExitStack() as kept:
        output, stopped = -1, None
        with open_cgroup(job.limits.memory_bytes, job.limits.processes) as cgroup:
            entrances = () if cgroup is None else cgroup.entrances
            running = Running(sandbox.launch(job, entrances), job.workspace.uid)
            try:
                began = running.wait_until_ready(log, start + job.limits.seconds)
                if began:
                    output = running.open_output(job.workspace)
                    kept.callback(os.close, output)
                    usage = Usage(job, cgroup, running.name_top(), has_room=running.has_room)
                    stopped = _watched(running, usage, log, start + job.limits.seconds)
            finally:
                running.end(log)
            code, seconds = running.process.returncode, time.monotonic() - start
            if began and stopped is None:
                stopped = usage.exceeded_at_end(code, output)
        yield ProgramOutcome(code, seconds, log.kept(), began, stopped, output)


def _watched(running: Running, usage: Usage, log: Log, until: float) -> Stopped | None:
    """Let the program run until it ends (None), or until it exceeds a limit; then end it."""
    watch = Watch(usage.exceeded)
    try:
        running.begin()
        if running.wait(log, until, watch):
            return None
        if watch.failure is not None:
            raise InfrastructureError(f"the limits can't be checked: {watch.failure}")
        return watch.found or too_slow(usage.limits)
    finally:
        try:
            running.end(log)  # first of all: a look can be slow only as long as the program runs
        finally:
            watch.end()
            usage.stop()


def _is_gone(process: int) -> bool:
    """Wait for the end of a process, given by its descriptor; False if that takes too long."""
    with selectors.DefaultSelector() as selector:
        selector.register(process, selectors.EVENT_READ)
        return bool(selector.select(ENDING_SECONDS))


def _read(descriptor: int) -> bytes | None:
    """What is there now: b"" at the end, None if there is nothing yet."""
    try:
        return os.read(descriptor, BLOCK)
    except BlockingIOError:
        return None
    except ConnectionResetError:
        return b""
