"""A build that fails on the public sample is free and told in full; on sealed examples it is a FAIL."""

from __future__ import annotations

import pytest

from easeci.ledger.signals import Signal
from easeci.script import Script
from easeci.tables.column import RankKind
from easeci.views.history import build_log
from tests.projects import ON_SEALED, add, opened, run_on
from tests.repositories import Workplace


def test_a_program_that_fails_on_the_sample_spends_no_step(sealed: Workplace) -> None:
    sealed.write("model.py", "print('why')\nraise SystemExit(3)\n")
    sealed.commit("broken")
    answer = run_on(sealed)
    assert answer.row.signal is Signal.BUILD_ERROR
    assert answer.failure is not None
    assert "exit code 3" in answer.failure
    assert "why" in (answer.log or "")
    assert answer.steps_used == 0
    project = opened(sealed)
    assert project.state.build_failures(project.require_active()) == 1


def test_a_program_that_fails_on_sealed_examples_fails_and_only_the_owner_reads_why(
    sealed: Workplace,
) -> None:
    sealed.write("model.py", ON_SEALED)
    sealed.commit("fails on sealed examples")
    answer = run_on(sealed)
    assert (answer.row.signal, answer.charged, answer.steps_used) == (Signal.FAIL, True, 1)
    assert (answer.failure, answer.log) == (None, None)
    assert "this is secret" in build_log(opened(sealed), 1)
    assert run_on(sealed).steps_used == 1


def test_without_a_sample_every_failed_build_is_charged(place: Workplace) -> None:
    add(place, sample="0")
    place.write("model.py", "raise SystemExit(3)\n")
    place.commit("broken")
    answer = run_on(place)
    assert (answer.row.signal, answer.steps_used, answer.failure) == (Signal.FAIL, 1, None)


@pytest.mark.parametrize(
    "program",
    {
        "missing ids": "print(*['id,prediction', 'e1,low'], sep='\\n', file=file)",
        "unknown classes": "print('id,prediction', *[f\"{r['id']},3\" for r in rows], sep='\\n', file=file)",
        "no columns": "print('hello', file=file)",
        "nothing": "pass",
    }.values(),
)
def test_malformed_predictions_on_the_sample_spend_no_step(place: Workplace, program: str) -> None:
    """And what is wrong with them is told: the sample is public."""
    add(place, classes="[low, high]")
    sealed = place
    sealed.write(
        "test_model.py",
        "import json, os\n"
        "rows = [json.loads(line) for line in open(os.environ['EASECI_EXAMPLES'] + '/examples.jsonl')]\n"
        "with open(os.environ['EASECI_PREDICTIONS'], 'w') as file:\n"
        f"    {program}\n",
    )
    sealed.commit("malformed")
    answer = run_on(sealed)
    assert answer.row.signal is Signal.BUILD_ERROR
    assert answer.steps_used == 0
    assert answer.failure


SCORED = """\
import json, os

with open(os.path.join(os.environ["EASECI_EXAMPLES"], "examples.jsonl")) as file:
    rows = [json.loads(line) for line in file]
with open(os.environ["EASECI_PREDICTIONS"], "w") as file:
    print("id,prediction,probability", file=file)
    for row in rows:
        x = float(row["x"])
        said = "low" if x < 0.7 else "high"
        print(row["id"], said, {score}, sep=",", file=file)
"""


def commit_scores(place: Workplace, score: str) -> None:
    place.write("test_model.py", SCORED.format(score=score))
    place.commit(f"scores {score}")


def test_scores_are_part_of_what_a_model_predicts(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a condition needs them: a missing one on the sample is told in full and free, on sealed
    examples it is a FAIL, and a model with other scores is not unchanged."""
    monkeypatch.setattr(Script, "needs_ranks", True)
    commit_scores(place, "x")
    add(place, unchanged="skip")
    project = opened(place)
    testset = project.require_active()
    (known,) = testset.sample_predictions.values()
    sample = project.sealed(testset).sample
    assert sample is not None
    assert sample.predictions.load_ranks(known.file).kind is RankKind.PROBABILITY

    commit_scores(place, "2 * x")
    answer = run_on(place)
    assert (answer.row.signal, answer.steps_used) == (Signal.BUILD_ERROR, 0)
    assert "with a probability outside 0 to 1" in (answer.failure or "")

    commit_scores(place, "x if True else 0")
    assert run_on(place).row.signal is Signal.UNCHANGED

    commit_scores(place, "x / 2 if len(rows) < 500 else ''")
    answer = run_on(place)
    assert (answer.row.signal, answer.charged, answer.failure) == (Signal.FAIL, True, None)
    assert "without a probability" in build_log(opened(place), answer.row.submission)
