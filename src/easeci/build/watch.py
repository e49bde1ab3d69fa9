"""Whether a build exceeds its limits: the kernel is asked where it keeps them, else we count."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from easeci.build.cgroups import BuildCgroup
from easeci.build.disk import DiskUse
from easeci.build.processes import HeldFiles, Process, descendants, held_files, use_more_than
from easeci.build.sandbox import Job, Limits, duration_text, size_text

LOOK_EVERY = 0.05
LOOK_SHARE = 0.2
"""The largest share of the time that checking limits may take."""
UNSEEN_LOOKS = 5
"""A process that begins or ends can't be seen for a moment; one that hides, at every look."""


@dataclass(frozen=True)
class Stopped:
    """Which limit the program exceeded, and what its owner can do about it."""

    reason: str
    hint: str


HIDES = Stopped(
    "hid files that it holds, so they can't be counted",
    "It must not make folders or processes that their own user can't read.",
)


def too_slow(limits: Limits) -> Stopped:
    """It did not end in time."""
    return Stopped(
        f"ran longer than {duration_text(limits.seconds)}",
        "Make it faster, or give it more time with timeout: in the script.",
    )


def too_many_processes(limits: Limits) -> Stopped:
    """It had too many processes or threads at once."""
    return Stopped(f"started more than {limits.processes} processes", "Let it start fewer.")


def too_much_memory(limits: Limits) -> Stopped:
    """It held too much memory at once."""
    return Stopped(
        f"used more than {size_text(limits.memory_bytes)} of memory",
        "Make it smaller, or give it more with memory: in the script.",
    )


def too_many_files(limits: Limits) -> Stopped:
    """Its files took too much room, or were too many."""
    return Stopped(
        f"wrote more than {size_text(limits.output_bytes)} of files",
        "Predictions are all that is kept; let it write less.",
    )


class Usage:
    """What a build uses. ``top`` is the process above all of its processes.

    It is made before the program begins. What a program writes is counted, unless it ``has_room``
    of its own: there it can't write more than it may.
    """

    def __init__(self, job: Job, cgroup: BuildCgroup | None, top: int, *, has_room: bool) -> None:
        self.limits = job.limits
        self._cgroup = cgroup
        self._top = top
        self._unseen_looks = 0
        self._device = job.workspace.folder.stat().st_dev
        self._disk = None if has_room else DiskUse(job.workspace.writable, self._held_on_disk)
        if has_room and cgroup is not None:  # files in the room are memory, too
            cgroup.limit_memory(job.limits.memory_bytes + job.limits.output_bytes)

    def exceeded(self) -> Stopped | None:
        """The limit that the running program exceeds."""
        if self._cgroup is not None:
            if self._cgroup.ran_out_of_memory():
                return too_much_memory(self.limits)
        else:
            processes = descendants(self._top)
            if len(processes) > self.limits.processes:
                return too_many_processes(self.limits)
            held = self._held(processes)
            if use_more_than(self.limits.memory_bytes, processes, self._top, held):
                return too_much_memory(self.limits)
        if self._disk is not None and self._disk.grown_bytes() > self.limits.output_bytes:
            return too_many_files(self.limits)
        closed = self._disk is not None and self._disk.closed
        return HIDES if closed or self._unseen_looks >= UNSEEN_LOOKS else None

    def exceeded_at_end(self, code: int, output: int) -> Stopped | None:
        """The limit that a program met which ended by itself; ``output`` is its open folder."""
        if self._cgroup is not None and self._cgroup.ran_out_of_memory():
            return too_much_memory(self.limits)
        if code == 0:
            return None
        if self._cgroup is not None and self._cgroup.refused_processes():
            return too_many_processes(self.limits)
        if self._disk is None:
            about = os.fstatvfs(output)
            if about.f_bavail == 0 or about.f_favail == 0:
                return too_many_files(self.limits)
        return None

    def stop(self) -> None:
        """Measure nothing any more."""
        if self._disk is not None:
            self._disk.stop()

    def _held_on_disk(self) -> int:
        return sum(self._held(descendants(self._top)).on(self._device).values())

    def _held(self, processes: list[Process]) -> HeldFiles:
        held = held_files(processes)
        self._unseen_looks = self._unseen_looks + 1 if held.unseen else 0
        return held


class Watch:
    """Looks again and again, in a thread of its own: no deadline waits for a look that takes long.

    ``found`` is what it saw, and ``failure`` says why it can't look: nothing may go on unwatched.
    ``wakes`` becomes readable then.
    """

    def __init__(self, look: Callable[[], Stopped | None]) -> None:
        self.found: Stopped | None = None
        self.failure: Exception | None = None
        self.wakes, self._wake = os.pipe()
        self._look = look
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="easeci-limits", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop looking. A look that is at work ends first: it can be slow only as long as the
        program runs, so end that before."""
        self._ends.set()
        self._thread.join()
        for descriptor in (self.wakes, self._wake):
            os.close(descriptor)

    def _run(self) -> None:
        pause = LOOK_EVERY
        while not self._ends.wait(pause):
            began = time.monotonic()
            try:
                self.found = self._look()
            except Exception as error:  # noqa: BLE001 - raised again where the program is ended
                self.failure = error
            if self.found is not None or self.failure is not None:
                os.write(self._wake, b"\n")
                return
            pause = max(LOOK_EVERY, (time.monotonic() - began) / LOOK_SHARE)
