"""A build's limits are told in the units that a script uses."""

from __future__ import annotations

from easeci.build.sandbox import duration_text, size_text


def test_limits_are_told_as_they_are_written() -> None:
    assert [duration_text(s) for s in (5, 90, 60, 1800)] == ["5s", "90s", "1m", "30m"]
    sizes = [size_text(s) for s in (8 * 2**30, 512 * 2**20, 1000)]
    assert sizes == ["8 GiB", "512 MiB", "1000 bytes"]
