"""No commit that is still needed can be lost, and nothing in the repository tells what passed."""

from __future__ import annotations

import pytest

from easeci.errors import ScriptError, UsageError
from easeci.service.commits.baseline import set_baseline
from tests.projects import add, opened, run_on
from tests.repositories import Workplace, write_examples


@pytest.mark.usefixtures("real_sandbox")
def test_a_force_push_cannot_lose_the_baseline(place: Workplace) -> None:
    """It is archived when it becomes the baseline, and then needed no more."""
    place.write_script(steps="1")
    first = place.commit("one step")
    add(place)
    run_on(place)
    passed = place.commit_cut(0.55)
    run_on(place)
    assert held(place) == set()
    lose(place, first)
    with pytest.raises(UsageError):
        opened(place).repository.resolve(passed)
    write_examples(place.examples, place.labels, start=9000)
    add(place)
    assert passed in opened(place).require_active().predictions


def test_a_commit_that_waits_for_labels_is_held(place: Workplace) -> None:
    """A force-push loses it, and it becomes the baseline all the same."""
    first = place.commit("first")
    add(place, labelled=False)
    run_on(place)
    waiting = place.commit_cut(0.52)
    run_on(place)
    assert held(place) == {waiting}
    lose(place, first)
    place.easeci("labels", "import", str(place.labels), code=0)
    state = opened(place).state
    assert state.baseline == waiting
    assert state.archive is not None
    assert state.archive.commit == waiting
    assert held(place) == set()


def test_a_refused_commit_is_not_held(place: Workplace) -> None:
    """It was fetched to read its script; the next command lets go of it."""
    place.commit("first")
    add(place)
    run_on(place)
    place.write_script(steps="9")
    changed = place.commit("another script")
    with pytest.raises(ScriptError):
        run_on(place)
    assert held(place) == {changed}
    place.write_script()
    place.commit("the script again")
    run_on(place)
    assert held(place) == set()


def test_what_is_held_does_not_show_in_the_repository(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which commits are still needed tells what passed, so developers must not see it."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder / 'letters'}")
    place.write_script(adaptivity="none -> a@example.org")
    first = place.commit("none")
    before = place.git("for-each-ref")
    add(place)
    set_baseline(opened(place), first)
    place.git("branch", "--quiet", "aside")
    better = place.commit_cut(0.52)
    run_on(place)
    assert opened(place).state.baseline == better
    after = place.git("for-each-ref", "--format=%(refname)").split()
    assert after == ["refs/heads/aside", "refs/heads/main"]
    assert before.endswith("refs/heads/main")


def held(place: Workplace) -> set[str]:
    folder = opened(place).commits.folder
    return {path.stem for path in folder.iterdir()} if folder.is_dir() else set()


def lose(place: Workplace, to: str) -> None:
    """Move the branch back, and let git forget what was on it."""
    place.git("reset", "--quiet", "--hard", to)
    place.git("reflog", "expire", "--expire=now", "--all")
    place.git("gc", "--quiet", "--prune=now")
