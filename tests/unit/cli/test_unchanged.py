"""What the developer of an unchanged commit reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from easeci.cli.run import show_answer
from easeci.ledger.signals import Signal
from easeci.service.commits.answer import answer_of
from tests.cases import each_case
from tests.histories import History


@each_case(("sample", "most"), [(100, "3"), (80, "3.7"), (20, "14")])
def test_an_unchanged_commit_reads_what_the_sample_shows(
    capsys: pytest.CaptureFixture[str], sample: int, most: str
) -> None:
    """How large d can be, that nothing was spent, and how to test it all the same.

    ``most`` is the share of differences with which a sample without one has probability 5%.
    """
    state = History.begun().commit("1", None).state
    answer = answer_of(state, state.submissions[-1])
    row = replace(answer.row, signal=Signal.UNCHANGED, step=None)
    show_answer(replace(answer, row=row, sample=sample))
    words = " ".join(capsys.readouterr().out.split())
    assert (
        f"None of the {sample} public examples differ from the baseline: d is below {most}% "
        "(with 95% confidence). It is not tested, and no step was spent. "
        f"`easeci run --test {row.commit[:10]}` tests it all the same."
    ) in words
