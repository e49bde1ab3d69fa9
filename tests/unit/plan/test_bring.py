"""Examples to bring: what is sealed, and the public sample."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from easeci.plan.bring import Bring, examples_to_bring, sample_size
from tests.cases import each_case


@each_case(
    ("needed", "wanted", "sealed", "sample"),
    [(10_000, 100, 10_000, 100), (1_900, 100, 1_900, 99), (950, 100, 950, 49), (50, 0, 50, 0)],
)
def test_a_sample_takes_what_the_script_wants_but_at_most_a_twentieth(
    needed: int, wanted: int, sealed: int, sample: int
) -> None:
    assert examples_to_bring(needed, wanted) == Bring(sealed, sample)


@given(st.integers(1, 100_000), st.integers(0, 3_000))
def test_one_example_fewer_would_leave_too_few(needed: int, wanted: int) -> None:
    total = examples_to_bring(needed, wanted).examples
    assert total - sample_size(wanted, total) >= needed
    assert total == 1 or total - 1 - sample_size(wanted, total - 1) < needed
