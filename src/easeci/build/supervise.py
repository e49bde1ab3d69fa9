"""Run a program below a process that outlives it and ends everything that it leaves behind.

A script of its own, run as ``python -I -S supervise.py ORDERS`` with nothing but the standard
library: it is the sandbox where there is no bubblewrap. The parent keeps the invoking user's rights
and adopts every orphan below it; the child gives up its rights, step by step, and becomes the
program. The parent ends when the program does, on SIGTERM, or when its own parent dies, but never
before every process below it has ended.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import resource
import signal
import struct
import sys
import warnings  # noqa: F401 - os.execvpe loads it, when the library may be out of reach already
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing and pathlib would take longer to load than all the rest takes
    from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
SET_PDEATHSIG, SET_DUMPABLE, SET_SECCOMP, SET_SUBREAPER, SET_NO_NEW_PRIVS = 1, 4, 22, 36, 38
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Numbers of Landlock's calls: the same on every architecture."""
EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8
ALL_OF_VERSION_1 = (1 << 13) - 1
REFER, TRUNCATE, DEVICE_IOCTL = 1 << 13, 1 << 14, 1 << 15
BIND_TCP, CONNECT_TCP = 1, 2
ABSTRACT_SOCKETS, SIGNALS = 1, 2
LEAST_VERSION = 6
"""The first that keeps signals inside, so that a program can't end what watches it."""
FAILED = 125


def landlock_version() -> int:
    """Which Landlock the kernel offers; 0 if none."""
    return max(0, int(LIBC.syscall(CREATE_RULESET, None, 0, 1)))


def confine(readable: list[str], writable: list[str]) -> None:
    """Let this process, for good, touch only these folders and signal only what it starts."""
    everything = ALL_OF_VERSION_1 | REFER | TRUNCATE | DEVICE_IOCTL
    attributes = struct.pack("=QQQ", everything, BIND_TCP | CONNECT_TCP, ABSTRACT_SOCKETS | SIGNALS)
    rules = _checked(LIBC.syscall(CREATE_RULESET, attributes, len(attributes), 0))
    for folders, rights in ((readable, EXECUTE | READ | LIST), (writable, everything)):
        for folder in folders:
            _allow(rules, folder, rights)
    _checked(LIBC.syscall(RESTRICT_SELF, rules, 0))
    os.close(rules)


def keep_signals_inside(outside: int) -> bool:
    """Let this process, for good, signal only what it starts; whether that holds.

    It is then safe to signal every process there is. ``outside`` is a process that we may signal as
    long as this does not hold.
    """
    try:
        _checked(LIBC.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        attributes = struct.pack("=QQQ", 0, 0, SIGNALS)
        rules = _checked(LIBC.syscall(CREATE_RULESET, attributes, len(attributes), 0))
        os.kill(outside, 0)
        _checked(LIBC.syscall(RESTRICT_SELF, rules, 0))
        os.close(rules)
    except OSError:  # an older kernel
        return False
    try:
        os.kill(outside, 0)
    except PermissionError:
        return True
    except ProcessLookupError:  # it ended meanwhile, so there is nothing to see
        pass
    return False


def _allow(rules: int, place: str, rights: int) -> None:
    with suppress(FileNotFoundError, PermissionError):
        descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
        if not os.path.isdir(place):
            rights &= EXECUTE | WRITE | READ | TRUNCATE | DEVICE_IOCTL
        rule = struct.pack("=Qi", rights, descriptor)
        _checked(LIBC.syscall(ADD_RULE, rules, 1, rule, 0))
        os.close(descriptor)


def filter_calls(program: bytes) -> None:
    """Load a filter of system calls."""
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    _checked(LIBC.prctl(SET_SECCOMP, 2, header, 0, 0))


def _checked(result: int) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def become_program(orders: dict[str, Any]) -> None:
    """In the child: give up all rights, then become the program."""
    os.setsid()
    for entrance in orders["cgroup"]:
        _write(entrance, "0")
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, orders["file_bytes"]),
        (resource.RLIMIT_NPROC, orders["processes"]),
    ):
        _, most = resource.getrlimit(limit)
        allowed = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(limit, (allowed, allowed))
    if orders["uid"] is not None:
        os.setgroups([])
        os.setresgid(orders["uid"], orders["uid"], orders["uid"])
        os.setresuid(orders["uid"], orders["uid"], orders["uid"])
    LIBC.prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _checked(LIBC.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    os.chdir(orders["folder"])
    if orders["confined"]:
        confine(orders["readable"], orders["writable"])
    if orders["filter"]:
        filter_calls(base64.b64decode(orders["filter"]))
    with suppress(OSError):
        _write("/proc/self/oom_score_adj", "1000")
    os.write(0, b"ready\n")
    if not os.read(0, 1):  # nobody is there any more to watch the program
        os._exit(FAILED)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.closerange(3, 1 << 16)
    try:
        os.execvpe(orders["command"][0], orders["command"], orders["environment"])  # noqa: S606
    except OSError as error:
        os.write(2, f"{orders['command'][0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def end_all(*, inside: bool) -> None:
    """End every process below this one, and return only when none is left.

    If signals stay ``inside``, the kernel ends all at once: no process can start another meanwhile.
    Otherwise all are stopped before the first is ended, so that a fork bomb, which can't exceed its
    limit of processes, comes to rest.
    """
    while True:
        if inside:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(-1, signal.SIGKILL)
        else:
            for pid in _stopped():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        try:
            while True:
                if os.waitpid(-1, 0 if inside else os.WNOHANG)[0] == 0:
                    break
        except ChildProcessError:
            return


def _stopped() -> set[int]:
    """Every process below this one, after all of them were sent a stop."""
    stopped: set[int] = set()
    while new := set(_below(os.getpid())) - stopped:
        for pid in new:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGSTOP)
        stopped |= new
    return stopped


def _below(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            parent = int(file.read().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(name))
    found, waiting = [], [root]
    while waiting:
        below = children.pop(waiting.pop(), [])
        found += below
        waiting += below
    return found


def supervise(orders: dict[str, Any]) -> int:
    """Start the program, wait for its end or a signal, and leave nothing behind."""
    LIBC.prctl(SET_SUBREAPER, 1, 0, 0, 0)
    LIBC.prctl(SET_DUMPABLE, 0, 0, 0, 0)  # no process of the same user may look into this one
    LIBC.prctl(SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, WAITED_FOR)
    inside = orders["confined"] and keep_signals_inside(orders["parent"])
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WAITED_FOR)
        try:
            become_program(orders)
        except OSError as error:
            os.write(2, f"the sandbox failed: {error}\n".encode())
        finally:
            os._exit(FAILED)
    code = _wait(child, orders["parent"])
    end_all(inside=inside)
    return code


WAITED_FOR = {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


def _wait(child: int, parent: int) -> int:
    while os.getppid() == parent:
        received = signal.sigtimedwait(WAITED_FOR, 1)
        if received is not None and received.si_signo != signal.SIGCHLD:
            break
        ended = True
        while ended:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
            ended = pid != 0
    return 128 + signal.SIGTERM


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as given:
        sys.exit(supervise(json.load(given)))
