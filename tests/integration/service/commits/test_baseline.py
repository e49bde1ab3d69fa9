"""The baseline: when it can be set, and that it is built again on a new testset."""

from __future__ import annotations

import pytest

from easeci.errors import BuildError, UsageError
from easeci.ledger.signals import Signal
from easeci.service.commits.baseline import set_baseline
from easeci.service.testsets.retire import retire_testset
from easeci.views.history import baseline_log
from tests.projects import add, opened, run_on
from tests.repositories import MODEL, Workplace, write_examples


@pytest.mark.usefixtures("real_sandbox")
def test_on_a_new_testset_the_baseline_is_built_again(place: Workplace) -> None:
    place.write_script(steps="1")
    place.commit("one step")
    add(place)
    run_on(place)
    passed = place.commit_cut(0.55)
    run_on(place)
    write_examples(place.examples, place.labels, start=9000)
    add(place)
    project = opened(place)
    assert project.state.baseline == passed
    assert passed in project.require_active().predictions
    place.commit_cut(0.75)
    assert run_on(place).row.signal is Signal.FAIL


def test_a_baseline_is_set_before_the_first_step_only(place: Workplace) -> None:
    first = place.git("rev-parse", "HEAD")
    place.commit_cut(0.6)
    add(place)
    assert set_baseline(opened(place), first) == first
    assert run_on(place).row.signal is Signal.PASS
    with pytest.raises(UsageError, match="before the first step"):
        set_baseline(opened(place), "HEAD")


def test_a_baseline_that_cannot_be_built_is_not_set(place: Workplace) -> None:
    good = place.git("rev-parse", "HEAD")
    place.write("model.py", "print('why')\nraise SystemExit(1)\n")
    broken = place.commit("broken")
    better = place.commit_cut(0.52)
    add(place)
    run_on(place, good)
    with pytest.raises(BuildError, match="cannot be built"):
        set_baseline(opened(place), broken)
    assert opened(place).state.baseline == good
    assert "why" in baseline_log(opened(place))
    assert run_on(place, better).row.signal is Signal.PASS


def test_after_none_the_baseline_is_tested_like_any_other(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That it is the baseline is what nobody was told."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder / 'letters'}")
    place.write_script(adaptivity="none -> a@example.org")
    place.commit("none")
    add(place)
    run_on(place)
    place.commit_cut(0.52)
    run_on(place)
    retire_testset(opened(place), "by hand")
    place.write_script()
    place.commit("full")
    write_examples(place.examples, place.labels, start=9000)
    add(place)
    answer = run_on(place)
    assert (answer.row.signal, answer.row.step) == (Signal.FAIL, 1)


def test_under_none_a_baseline_that_cannot_be_built_shows_to_nobody(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which commit the baseline is tells what passed, and so would its failure."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder / 'letters'}")
    place.write_script(adaptivity="none -> a@example.org")
    place.commit("none")
    add(place)
    run_on(place)
    examples = "open(os.environ['EASECI_EXAMPLES'] + '/examples.csv').read()"
    picky = f"import os\nif 'e9000,' in {examples}:\n    raise SystemExit(3)\n"
    place.write("model.py", picky + MODEL.format(cut=0.52))
    place.commit("passes, and does not build on other examples")
    run_on(place)
    retire_testset(opened(place), "by hand")
    write_examples(place.examples, place.labels, start=9000)
    add(place)
    place.commit_cut(0.6)
    answer = run_on(place)
    assert (answer.row.signal, answer.row.step, answer.charged) == (Signal.ACCEPTED, 1, True)
    failure = opened(place).state.testsets[2].baseline_failure
    assert failure is not None
    assert "exit code 3" in failure.reason
