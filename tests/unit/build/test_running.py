"""Small parts of running a program: its log, its limits in words, the filter of system calls."""

from __future__ import annotations

import platform
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.build.running import Log
from easeci.build.sandbox import duration_text, size_text
from easeci.build.seccomp import ALLOW, FAIL_WITH, IGNORED, KILL, MACHINES, REFUSED, seccomp_filter


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(2, 60))
def test_a_log_keeps_the_beginning_and_the_end(blocks: list[bytes], limit: int) -> None:
    """All of a short one; of a long one, half the limit from either end, and what is left out."""
    log, whole = Log(limit), b"".join(blocks)
    for block in blocks:
        log.add(block)
    if len(whole) <= limit:
        assert log.kept() == whole
        return
    head, tail = whole[: limit // 2], whole[-(limit - limit // 2) :]
    note = b"\n[easeci: %d bytes are left out here]\n" % (len(whole) - limit)
    assert log.kept() == head + note + tail


def test_limits_are_told_as_they_are_written() -> None:
    assert [duration_text(s) for s in (5, 90, 60, 1800)] == ["5s", "90s", "1m", "30m"]
    sizes = [size_text(s) for s in (8 * 2**30, 512 * 2**20, 1000)]
    assert sizes == ["8 GiB", "512 MiB", "1000 bytes"]


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
