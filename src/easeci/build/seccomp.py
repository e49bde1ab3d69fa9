"""A filter of system calls, in the kernel's own form (classic BPF).

It refuses calls that no model needs and that attackers have broken sandboxes with: to other
processes' memory, new namespaces, mounts, keys, kernel programs, memory and messages that outlive
their process, unusual sockets, leases and hints of files, and asynchronous calls, which a filter
does not see.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable
from dataclasses import dataclass

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, FAIL_WITH = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24
"""Where a filter finds these. Of an argument it is the lower half, which is all that the kernel
takes of an int."""
X32 = 0x40000000
NAMESPACES = 0x7E020000
"""Every CLONE_NEW* flag of clone: mount, cgroup, uts, ipc, user, pid, net."""

REFUSED = {
    "x86_64": {
        **{"ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438},
        **{"kcmp": 312, "perf_event_open": 298, "bpf": 321, "userfaultfd": 323},
        **{"add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272, "setns": 308},
        **{"mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "open_tree": 428},
        **{"move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433},
        **{"mount_setattr": 442, "open_by_handle_at": 304, "swapon": 167, "reboot": 169},
        **{"acct": 163, "quotactl": 179, "init_module": 175, "finit_module": 313},
        **{"delete_module": 176, "kexec_load": 246, "kexec_file_load": 320, "syslog": 103},
        **{"shmget": 29, "shmat": 30, "shmctl": 31, "shmdt": 67, "semget": 64, "semop": 65},
        **{"semctl": 66, "semtimedop": 220, "msgget": 68, "msgsnd": 69, "msgrcv": 70},
        **{"msgctl": 71, "mq_open": 240, "mq_unlink": 241, "mq_timedsend": 242},
        **{"mq_timedreceive": 243, "mq_notify": 244, "mq_getsetattr": 245},
    },
    "aarch64": {
        **{"ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "pidfd_getfd": 438},
        **{"kcmp": 272, "perf_event_open": 241, "bpf": 280, "userfaultfd": 282},
        **{"add_key": 217, "request_key": 218, "keyctl": 219, "unshare": 97, "setns": 268},
        **{"mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "open_tree": 428},
        **{"move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433},
        **{"mount_setattr": 442, "open_by_handle_at": 265, "swapon": 224, "reboot": 142},
        **{"acct": 89, "quotactl": 60, "init_module": 105, "finit_module": 273},
        **{"delete_module": 106, "kexec_load": 104, "kexec_file_load": 294, "syslog": 116},
        **{"shmget": 194, "shmat": 196, "shmctl": 195, "shmdt": 197, "semget": 190, "semop": 193},
        **{"semctl": 191, "semtimedop": 192, "msgget": 186, "msgsnd": 189, "msgrcv": 188},
        **{"msgctl": 187, "mq_open": 180, "mq_unlink": 181, "mq_timedsend": 182},
        **{"mq_timedreceive": 183, "mq_notify": 184, "mq_getsetattr": 185},
    },
}
WATCHING = {
    "x86_64": {"inotify_init": 253, "inotify_init1": 294, "fanotify_init": 300},
    "aarch64": {"inotify_init1": 26, "fanotify_init": 262},
}
"""Landlock leaves these alone, so a program would hear when somebody stores a label."""
IGNORED = {
    "x86_64": {
        **{"chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452, "chown": 92},
        **{"fchown": 93, "lchown": 94, "fchownat": 260, "utime": 132, "utimes": 235},
        **{"futimesat": 261, "utimensat": 280, "file_setattr": 469, "setxattr": 188},
        **{"lsetxattr": 189, "fsetxattr": 190, "setxattrat": 463, "removexattr": 197},
        **{"lremovexattr": 198, "fremovexattr": 199, "removexattrat": 466},
        **{"setpriority": 141, "ioprio_set": 251},
    },
    "aarch64": {
        **{"fchmod": 52, "fchmodat": 53, "fchmodat2": 452, "fchown": 55, "fchownat": 54},
        **{"utimensat": 88, "file_setattr": 469, "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7},
        **{"setxattrat": 463, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16},
        **{"removexattrat": 466, "setpriority": 140, "ioprio_set": 30},
    },
}
"""Landlock leaves these alone, so a program could open its own user's vault to others, or leave a
mark for the next build on a file that it may read or on a process of its user. They do nothing and
say that they did: an honest program that copies a file with its mode and time must not fail."""
SCHEDULING = {
    "x86_64": {
        **{"sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203},
        **{"sched_setattr": 314},
    },
    "aarch64": {
        **{"sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122},
        **{"sched_setattr": 274},
    },
}
"""Ignored unless they are for the calling thread: other numbers may be those of its user's other
processes, which Landlock leaves alone."""
ABSENT = (425, 426, 427, 435)
"""io_uring_* and clone3: answered as by an older kernel, so that libraries fall back."""


UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
"""Kinds of sockets that stay inside the namespace of the network. Others, such as those to the host
of a virtual machine, lead out of it."""
TERMINALS = (0x5400, 0x5500)
"""From where to where the numbers of ioctls for terminals, pipes and descriptors go."""
FICLONE, FICLONERANGE = 0x40049409, 0x4020940D
"""They copy into a file that is open for writing."""
LEASES, KNOWN_COMMANDS = 1024, range(1025, 1036)
"""Commands of fcntl. A lease (1024) delays other processes that open the file for writing, although
the program may only read it. A hint (1036) stays on the file for the next build. Higher numbers are
too new to be known here. All of these fail as on a kernel that does not have them."""


@dataclass(frozen=True)
class Machine:
    """Numbers that differ between architectures: the architecture's own, and of some calls."""

    audit: int
    clone: int
    socket: int
    socketpair: int
    ioctl: int
    fcntl: int
    prlimit64: int


MACHINES = {
    "x86_64": Machine(
        0xC000003E, clone=56, socket=41, socketpair=53, ioctl=16, fcntl=72, prlimit64=302
    ),
    "aarch64": Machine(
        0xC00000B7, clone=220, socket=198, socketpair=199, ioctl=29, fcntl=25, prlimit64=261
    ),
}


def seccomp_filter(*, namespaces: bool) -> bytes | None:
    """The filter for this machine; None if we do not know the numbers of its system calls.

    With ``namespaces``, the namespace of the network keeps the program offline, and the filter
    refuses only sockets that lead out of it. Without, it refuses all sockets, but not pairs of
    connected ones, which pools of processes use. It also stands in for what namespaces and
    read-only mounts would prevent: changes of modes, owners, times and flags of files, and of the
    limits and priorities of other processes.
    """
    kind = platform.machine()
    machine = MACHINES.get(kind)
    if machine is None:
        return None
    code = [
        _step(LOAD, ARCHITECTURE),
        _step(JUMP_EQUAL, machine.audit, 1, 0),
        _step(RETURN, KILL),
        _step(LOAD, NUMBER),
    ]
    if kind == "x86_64":
        code += [_step(JUMP_AT_LEAST, X32, 0, 1), _fail(errno.ENOSYS)]
    code += _failing(REFUSED[kind].values(), errno.EPERM)
    code += _failing(ABSENT, errno.ENOSYS)
    code += _only(machine.fcntl, SECOND_ARGUMENT, KNOWN_COMMANDS, errno.EINVAL, (0, LEASES))
    code += _only(machine.socketpair, FIRST_ARGUMENT, (UNIX,), errno.EACCES)
    if namespaces:
        inside = (UNIX, INET, INET6, NETLINK)
        code += _only(machine.socket, FIRST_ARGUMENT, inside, errno.EACCES)
    else:
        code += _failing([machine.socket], errno.EACCES)
        code += _failing(WATCHING[kind].values(), errno.EPERM)
        code += _failing(IGNORED[kind].values(), 0)
        for number in SCHEDULING[kind].values():
            code += _only(number, FIRST_ARGUMENT, (0,), 0)
        code += _only(machine.prlimit64, FIRST_ARGUMENT, (0,), errno.EPERM)
        code += _only(
            machine.ioctl, SECOND_ARGUMENT, (FICLONE, FICLONERANGE), errno.ENOTTY, TERMINALS
        )
    code += [
        _step(JUMP_EQUAL, machine.clone, 0, 3),
        _step(LOAD, FIRST_ARGUMENT),
        _step(JUMP_ANY_BIT, NAMESPACES, 0, 1),
        _fail(errno.EPERM),
        _step(RETURN, ALLOW),
    ]
    return b"".join(code)


def _failing(numbers: Iterable[int], error: int) -> list[bytes]:
    """Steps by which these calls do nothing and give an error; 0 is success."""
    steps = []
    for number in sorted(numbers):
        steps += [_step(JUMP_EQUAL, number, 0, 1), _fail(error)]
    return steps


def _only(
    number: int, argument: int, values: Iterable[int], error: int, between: tuple[int, int] = (0, 0)
) -> list[bytes]:
    """Steps by which a call fails unless an argument has one of the values, or is in the range."""
    steps = [
        _step(LOAD, argument),
        _step(JUMP_AT_LEAST, between[1], 2, 0),
        _step(JUMP_AT_LEAST, between[0], 0, 1),
        _step(RETURN, ALLOW),
    ]
    for value in values:
        steps += [_step(JUMP_EQUAL, value, 0, 1), _step(RETURN, ALLOW)]
    steps.append(_fail(error))
    return [_step(JUMP_EQUAL, number, 0, len(steps)), *steps]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _fail(error: int) -> bytes:
    return _step(RETURN, FAIL_WITH | error)
