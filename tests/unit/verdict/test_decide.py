"""A verdict while labels come in equals, at every label, the verdict for all codes at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.evidence.cells import Code, differs
from easeci.evidence.codes import Codes
from easeci.evidence.facts import Known
from easeci.script import Estimator, Script
from easeci.verdict.decide import Evaluation, decide
from tests.scripts import script

CONDITIONS = [
    "n - o > 0.02 +/- 0.1",
    "n > 0.6 +/- 0.1",
    "d < 0.4 +/- 0.1",
    "n - 1.1 * o > -0.1 +/- 0.2",
    r"n - o > 0.02 +/- 0.1 /\ d < 0.6 +/- 0.1",
    r"n > 0.5 +/- 0.1 /\ n - o > 0.02 +/- 0.1",
    r"n - o > 0 +/- 0.2 /\ n > 0.4 +/- 0.2 /\ d < 0.9 +/- 0.05",
]
Draws = st.DataObject
AGREEING = [Code.AGREE_RIGHT, Code.AGREE_WRONG, Code.AGREE_UNSETTLED, Code.AGREE_UNLABELLED]
DIFFERING = [
    Code.NEW_RIGHT, Code.OLD_RIGHT, Code.BOTH_WRONG, Code.DIFFER_UNSETTLED, Code.DIFFER_UNLABELLED,
]  # fmt: skip


def same_at_every_label(made: Script, history: str | None, codes: Codes, data: Draws) -> None:
    """This holds for every order of labels, and if labels are taken back or change."""
    batch = data.draw(st.sampled_from([1, 3, 20]))
    flags = st.lists(st.booleans(), min_size=len(codes), max_size=len(codes))
    drawn = data.draw(st.none() | flags)
    at_hand = None if drawn is None else np.array(drawn)
    live = Evaluation(made, codes, history, at_hand)
    assert live.verdict(batch) == decide(made, codes, history, batch, at_hand)
    most = 25 if made.estimator is Estimator.SEQUENTIAL else 4
    for _ in range(data.draw(st.integers(0, most))):
        position = data.draw(st.integers(0, len(codes) - 1))
        choices = DIFFERING if differs(codes[[position]])[0] else AGREEING
        code = data.draw(st.sampled_from(choices))
        live.put(position, Known(code))
        codes[position] = code
        assert live.known_at(position).code == code
        assert live.verdict(batch) == decide(made, codes, history, batch, at_hand)


CODES = st.lists(st.integers(0, 8), min_size=1, max_size=40).map(lambda r: np.array(r, np.uint8))
MODES = st.sampled_from(["fp-free", "fn-free"])
HISTORIES = st.sampled_from([None, "", "PF"])


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(CONDITIONS), MODES, HISTORIES, CODES, st.data())
def test_at_every_label_it_is_what_all_codes_at_once_give(
    condition: str, mode: str, history: str | None, codes: Codes, data: Draws
) -> None:
    made = script(condition, reliability=0.7, mode=mode, estimator="sequential", steps=4)
    same_at_every_label(made, history, codes, data)


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(["exact", "hoeffding"]),
    st.sampled_from(CONDITIONS[1:3]),
    MODES,
    HISTORIES,
    CODES,
    st.data(),
)
def test_so_it_is_by_estimators_that_count_everything_each_time(
    estimator: str, condition: str, mode: str, history: str | None, codes: Codes, data: Draws
) -> None:
    made = script(condition, reliability=0.7, mode=mode, estimator=estimator, steps=4)
    same_at_every_label(made, history, codes, data)
