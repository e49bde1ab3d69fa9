"""A testset that the owner ends by hand is used no more, and nothing waits on it."""

from __future__ import annotations

import pytest

from easeci.errors import NoTestsetError
from easeci.ledger.signals import Signal
from easeci.service.testsets.retire import retire_testset
from easeci.views.status import status
from tests.projects import add, opened, run_on
from tests.repositories import Workplace


def test_a_testset_retired_by_hand_is_used_no_more(sealed: Workplace) -> None:
    run_on(sealed)
    retire_testset(opened(sealed), "by hand")
    sealed.commit_cut(0.52)
    with pytest.raises(NoTestsetError, match="by hand"):
        run_on(sealed)


def test_nothing_waits_on_a_testset_that_has_ended(place: Workplace) -> None:
    add(place, labelled=False)
    run_on(place)
    for cut in (0.52, 0.51):
        place.commit_cut(cut)
        assert run_on(place).row.signal is Signal.PENDING
    assert waiting(place) == 2
    retire_testset(opened(place), "by hand")
    assert waiting(place) == 0


def waiting(place: Workplace) -> int:
    owner = status(opened(place), owner=True).owner
    assert owner is not None
    return owner.waiting
