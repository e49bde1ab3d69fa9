"""The filter of system calls refuses what it lists and lets the rest through."""

from __future__ import annotations

import errno
import platform
import re
import struct
from pathlib import Path

import pytest

from easeci.build.seccomp import (
    ABSENT,
    ALLOW,
    FAIL_WITH,
    IGNORED,
    KILL,
    MACHINES,
    REFUSED,
    SCHEDULING,
    WATCHING,
    seccomp_filter,
)

SUCCESS = FAIL_WITH
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def answer(program: bytes, audit: int, number: int, first: int = 0, second: int = 0) -> int:
    """What a filter answers, by a second reading of the kernel's rules."""
    memory = {0: number, 4: audit, 16: first & 0xFFFFFFFF, 24: second & 0xFFFFFFFF}
    steps = list(struct.iter_unpack("=HBBI", program))
    place = accumulator = 0
    while True:
        code, if_true, if_false, value = steps[place]
        place += 1
        if code == 0x20:
            accumulator = memory[value]
        elif code == 0x06:
            return int(value)
        else:
            met = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: bool(accumulator & value),
            }[code]
            place += if_true if met else if_false


@pytest.fixture(params=MACHINES)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each architecture in turn, whatever this machine is."""
    name: str = request.param
    monkeypatch.setattr(platform, "machine", lambda: name)
    return name


@pytest.mark.parametrize("namespaces", [True, False])
def test_the_filter_refuses_what_it_lists(kind: str, namespaces: bool) -> None:
    """Each listed call fails or does nothing, and all others are let through."""
    machine, program = MACHINES[kind], seccomp_filter(namespaces=namespaces)
    assert program is not None
    expected = dict.fromkeys(REFUSED[kind].values(), FAIL_WITH | errno.EPERM)
    expected |= dict.fromkeys(ABSENT, FAIL_WITH | errno.ENOSYS)
    if not namespaces:
        expected |= dict.fromkeys(WATCHING[kind].values(), FAIL_WITH | errno.EPERM)
        expected |= dict.fromkeys(IGNORED[kind].values(), SUCCESS)
    checked = (machine.socket, machine.socketpair, machine.ioctl, machine.prlimit64)
    for number in range(1000):
        if number not in checked:
            found = answer(program, machine.audit, number)
            assert found == expected.get(number, ALLOW), number
    assert answer(program, machine.audit, machine.clone, 0x10000000) == FAIL_WITH | errno.EPERM
    assert answer(program, machine.audit + 1, 1) == KILL


def test_only_sockets_that_stay_inside_can_be_made(kind: str) -> None:
    """Whatever the upper half of the argument holds: the kernel takes an int."""
    machine = MACHINES[kind]
    refused = FAIL_WITH | errno.EACCES
    for namespaces, allowed in ((True, {1, 2, 10, 16}), (False, set[int]())):
        program = seccomp_filter(namespaces=namespaces)
        assert program is not None
        for family in (*range(100), 0xFFFFFFFF):
            for upper in (0, 1 << 32):
                made = answer(program, machine.audit, machine.socket, family | upper)
                assert made == (ALLOW if family in allowed else refused)
                pair = answer(program, machine.audit, machine.socketpair, family | upper)
                assert pair == (ALLOW if family == 1 else refused)


def test_other_processes_and_flags_of_files_are_left_alone(kind: str) -> None:
    """Where no namespace does it, the filter allows own limits and harmless ioctls only."""
    machine, program = MACHINES[kind], seccomp_filter(namespaces=False)
    assert program is not None
    assert answer(program, machine.audit, machine.prlimit64, 0) == ALLOW
    assert answer(program, machine.audit, machine.prlimit64, 1) == FAIL_WITH | errno.EPERM
    for number in SCHEDULING[kind].values():
        assert answer(program, machine.audit, number, 0) == ALLOW
        assert answer(program, machine.audit, number, 1) == SUCCESS
    is_terminal, unread, share_blocks, set_flags = 0x5401, 0x541B, 0x40049409, 0x40086602
    for request in (is_terminal, unread, share_blocks):
        assert answer(program, machine.audit, machine.ioctl, 3, request) == ALLOW
    for request in (0, 0x53FF, 0x5500, set_flags, 0xFFFFFFFF):
        refused = FAIL_WITH | errno.ENOTTY
        assert answer(program, machine.audit, machine.ioctl, 3, request) == refused
    with_namespaces = seccomp_filter(namespaces=True)
    assert with_namespaces is not None
    assert answer(with_namespaces, machine.audit, machine.prlimit64, 1) == ALLOW
    assert answer(with_namespaces, machine.audit, machine.ioctl, 3, set_flags) == ALLOW


@pytest.mark.parametrize("namespaces", [True, False])
def test_leases_and_hints_are_refused_and_locks_are_not(kind: str, namespaces: bool) -> None:
    """Programs of several processes need locks. What is too new to be known is refused, too."""
    machine, program = MACHINES[kind], seccomp_filter(namespaces=namespaces)
    assert program is not None
    commands = {"F_SETFD": 2, "F_SETLK": 6, "F_OFD_SETLK": 37, "F_DUPFD_CLOEXEC": 1030}
    for command in (*commands.values(), 1025, 1035):
        assert answer(program, machine.audit, machine.fcntl, 3, command) == ALLOW
    lease, hint, delegation = 1024, 1036, 1040
    for command in (lease, hint, delegation, 0xFFFFFFFF):
        for upper in (0, 1 << 32):
            found = answer(program, machine.audit, machine.fcntl, 3, command | upper)
            assert found == FAIL_WITH | errno.EINVAL


def test_the_numbers_are_those_of_the_kernel(kind: str) -> None:
    """Compared with the kernel's own headers, as far as these know the calls already."""
    if not HEADERS[kind].exists():
        pytest.skip(f"{HEADERS[kind]} is not installed")
    text = HEADERS[kind].read_text("ascii", "replace")
    known = {
        name: int(number) for name, number in re.findall(r"__NR(?:3264)?_(\w+)\s+(\d+)\n", text)
    }
    machine = MACHINES[kind]
    ours = {**REFUSED[kind], **WATCHING[kind], **IGNORED[kind], **SCHEDULING[kind]}
    for name in ("clone", "socket", "socketpair", "ioctl", "fcntl", "prlimit64"):
        ours[name] = getattr(machine, name)
    new = {"setxattrat", "removexattrat", "file_setattr", "fchmodat2"}
    assert {name for name in ours if name not in known} <= new
    assert {name: known.get(name, ours[name]) for name in ours} == ours


def test_both_tables_list_the_same_calls() -> None:
    """Newer architectures lack only what other calls of the list have replaced."""
    replaced = {"chmod", "chown", "lchown", "utime", "utimes", "futimesat", "inotify_init"}
    for table in (REFUSED, WATCHING, IGNORED, SCHEDULING):
        assert set(table["x86_64"]) - set(table["aarch64"]) <= replaced
        assert set(table["aarch64"]) <= set(table["x86_64"])


def test_unknown_machines_have_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert seccomp_filter(namespaces=True) is None
