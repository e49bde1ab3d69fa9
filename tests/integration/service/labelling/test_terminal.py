"""One labeller in a terminal is asked for what the verdicts need, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from easeci.errors import UsageError
from easeci.service.labelling.session import LabelSession
from easeci.service.labelling.terminal import TerminalSession
from tests.integration.service.labelling.labellers import (
    LABEL,
    at,
    made,
    recorded,
    rests_on,
    truth,
    verdicts,
)
from tests.projects import opened
from tests.repositories import Workplace


def test_one_labeller_alone_gives_exactly_the_labels_that_the_verdicts_rest_on(
    place: Workplace, reference: list[Any]
) -> None:
    asking = TerminalSession(opened(place), "ann")
    while asking.question is not None:
        asking.answer(LABEL, truth(asking.question))
    asking.close()
    assert verdicts(place) == reference
    assert len(asking.answered) == 2
    assert set(recorded(place)) == rests_on(place, reference)
    assert asking.given == len(recorded(place))


def test_a_session_ends_where_a_verdict_waits_for_its_tick(tmp_path: Path) -> None:
    """A step that is decided and not disclosed yet wants no labels, and nobody waits in a loop."""
    place = made(tmp_path / "tick", (0.7, 0.52), disclose="24h", classes="[low, high]")
    asking = TerminalSession(opened(place), "ann")
    while asking.question is not None:
        asking.answer(LABEL, truth(asking.question))
    asking.close()
    assert verdicts(place)[0] is not None
    asking = TerminalSession(opened(place), "ann")
    assert asking.question is None
    with pytest.raises(UsageError, match="already"):
        at(LabelSession(opened(place)))
    asking.close()
