"""No commit that is still needed can be lost, and refs tell nobody what passed."""

from __future__ import annotations

import pytest

from easeci.errors import UsageError
from easeci.service.commits.baseline import set_baseline
from tests.projects import add, opened, run_on
from tests.repositories import Workplace, write_examples


@pytest.mark.usefixtures("real_sandbox")
def test_a_force_push_cannot_lose_the_baseline(place: Workplace) -> None:
    """Neither while its ref stands nor when that is gone too: the archive has its files."""
    place.write_script(steps="1")
    first = place.commit("one step")
    add(place)
    run_on(place)
    passed = place.commit_cut(0.55)
    run_on(place)
    place.git("reset", "--quiet", "--hard", first)
    place.git("reflog", "expire", "--expire=now", "--all")
    place.git("gc", "--quiet", "--prune=now")
    assert place.git("cat-file", "-t", passed) == "commit"
    for ref in place.git("for-each-ref", "--format=%(refname)", "refs/easeci").splitlines():
        place.git("update-ref", "-d", ref)
    place.git("gc", "--quiet", "--prune=now")
    with pytest.raises(UsageError):
        opened(place).repository.resolve(passed)
    write_examples(place.examples, place.labels, start=9000)
    add(place)
    assert passed in opened(place).require_active().predictions


def test_under_none_refs_are_never_taken_away(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which commits are still held would tell what passed."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder / 'letters'}")
    place.write_script(adaptivity="none -> a@example.org")
    first = place.commit("none")
    add(place)
    set_baseline(opened(place), first)
    better = place.commit_cut(0.52)
    run_on(place)
    assert opened(place).state.baseline == better
    held = place.git("for-each-ref", "--format=%(objectname)", "refs/easeci").split()
    assert set(held) == {first, better}
