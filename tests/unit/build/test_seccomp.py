"""The filter of system calls refuses what it lists and lets the rest through."""

from __future__ import annotations

import platform
import struct

import pytest

from easeci.build.seccomp import ALLOW, FAIL_WITH, IGNORED, KILL, MACHINES, REFUSED, seccomp_filter


def answer(program: bytes, audit: int, number: int, argument: int) -> int:
    """What a filter answers, by a second reading of the kernel's rules."""
    memory = {0: number, 4: audit, 16: argument}
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


@pytest.mark.parametrize("kind", MACHINES)
def test_the_filter_refuses_what_it_lists(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each listed call fails, clone only with new namespaces, and all others are let through."""
    monkeypatch.setattr(platform, "machine", lambda: kind)
    machine, program = MACHINES[kind], seccomp_filter(namespaces=False)
    assert program is not None
    for number in range(1000):
        refused = number in REFUSED[kind].values() or number == machine.socket
        found = answer(program, machine.audit, number, 0)
        if refused:
            assert found & 0xFFFF0000 == FAIL_WITH
        elif number in IGNORED[kind].values():
            assert found == FAIL_WITH
        elif number not in (425, 426, 427, 435):
            assert found == ALLOW
    assert answer(program, machine.audit, machine.clone, 0x10000000) != ALLOW
    assert answer(program, machine.audit + 1, 1, 0) == KILL
    open_one = seccomp_filter(namespaces=True)
    assert open_one is not None
    assert answer(open_one, machine.audit, machine.socket, 0) == ALLOW


def test_unknown_machines_have_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert seccomp_filter(namespaces=True) is None
