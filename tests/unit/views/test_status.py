"""The status: what a script promises, and what happens next."""

from __future__ import annotations

import pytest

from easeci.ledger.disclosure import disclosed_status
from easeci.ledger.events import TestsetRetired
from easeci.ledger.reasons import ByHand
from easeci.script import parse_script
from easeci.views.status import next_act, promise
from tests.histories import History


def test_the_promise_of_each_mode() -> None:
    script = parse_script(
        "ml:\n  - condition: n > 0.8 +/- 0.05\n  - reliability: 0.99\n  - mode: fn-free\n"
        "  - adaptivity: full\n  - steps: 4\n  - script: ./t\n  - sensitivity: 0.9\n",
        "here",
    )
    safe, sensitive, _ = promise(script)
    assert "no commit fails whose condition is true" in safe
    assert "0.9, no commit passes that is on the bad side of some threshold" in sensitive


@pytest.mark.parametrize(
    ("history", "words"),
    [
        (History(), "`easeci testset add EXAMPLES`"),
        (History.begun(), "`easeci run` tests the next commit; steps left: 4."),
        (History.begun().commit("1", None), "wait for labels: 1 (`easeci label`); steps left: 3."),
        (History.begun().add(TestsetRetired(1, ByHand("by hand"))), "A new testset is needed"),
    ],
)
def test_what_happens_next_is_said_for_every_state(history: History, words: str) -> None:
    assert words in next_act(disclosed_status(history.state))
