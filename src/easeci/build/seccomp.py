"""A filter of system calls, in the kernel's own form (classic BPF).

It refuses calls that no model needs and that attackers have broken sandboxes with: to other
processes' memory, new namespaces, mounts, keys, kernel programs, and asynchronous calls, which a
filter does not see.
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, FAIL_WITH = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
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
    },
}
IGNORED = {
    "x86_64": {
        **{"chmod": 90, "fchmodat": 268, "fchmodat2": 452, "chown": 92, "lchown": 94},
        **{"fchownat": 260, "setxattr": 188, "lsetxattr": 189, "setxattrat": 463},
        **{"removexattr": 197, "lremovexattr": 198, "removexattrat": 466},
    },
    "aarch64": {
        **{"fchmodat": 53, "fchmodat2": 452, "fchownat": 54, "setxattr": 5, "lsetxattr": 6},
        **{"setxattrat": 463, "removexattr": 14, "lremovexattr": 15, "removexattrat": 466},
    },
}
"""Landlock leaves these alone, so a program could open its own user's vault to others. They do
nothing and say that they did: an honest program that copies a file's modes must not fail."""
ABSENT = (425, 426, 427, 435)
"""io_uring_* and clone3: answered as by an older kernel, so that libraries fall back."""


@dataclass(frozen=True)
class Machine:
    """Numbers that differ between architectures: the architecture's own, and of two calls."""

    audit: int
    clone: int
    socket: int


MACHINES = {"x86_64": Machine(0xC000003E, 56, 41), "aarch64": Machine(0xC00000B7, 220, 198)}


def seccomp_filter(*, namespaces: bool) -> bytes | None:
    """The filter for this machine; None if we do not know the numbers of its system calls.

    With ``namespaces``, the namespace of the network keeps the program offline. Without, the filter
    refuses every new socket, but not pairs of connected ones, which pools of processes use. It also
    ignores changes of modes and owners by name, because no read-only mount prevents them.
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
    for number in sorted(REFUSED[kind].values()):
        code += [_step(JUMP_EQUAL, number, 0, 1), _fail(errno.EPERM)]
    for number in ABSENT:
        code += [_step(JUMP_EQUAL, number, 0, 1), _fail(errno.ENOSYS)]
    if not namespaces:
        code += [_step(JUMP_EQUAL, machine.socket, 0, 1), _fail(errno.EACCES)]
        for number in sorted(IGNORED[kind].values()):
            code += [_step(JUMP_EQUAL, number, 0, 1), _fail(0)]
    code += [
        _step(JUMP_EQUAL, machine.clone, 0, 3),
        _step(LOAD, FIRST_ARGUMENT),
        _step(JUMP_ANY_BIT, NAMESPACES, 0, 1),
        _fail(errno.EPERM),
        _step(RETURN, ALLOW),
    ]
    return b"".join(code)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _fail(error: int) -> bytes:
    return _step(RETURN, FAIL_WITH | error)
