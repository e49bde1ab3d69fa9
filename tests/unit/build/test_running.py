"""The log of a program that runs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from easeci.build.running import Log


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
