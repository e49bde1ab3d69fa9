"""The status: what a script promises, and what happens next."""

from __future__ import annotations

import pytest

from easeci.ledger.disclosure import disclosed_status
from easeci.ledger.events import TestsetRetired
from easeci.ledger.reasons import ByHand, FirstChange
from easeci.script import parse_script
from easeci.views.status import next_act, promise, rests_on
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
        (
            History.begun().commit("1", None),
            "Commits that wait for labels, or for a tick: 1. The owner labels with `easeci label`; "
            "`easeci run COMMIT` asks again. `easeci run` tests the next commit; steps left: 3.",
        ),
        (History.begun().add(TestsetRetired(1, ByHand("by hand"))), "A new testset is needed"),
    ],
)
def test_what_happens_next_is_said_for_every_state(history: History, words: str) -> None:
    assert words in next_act(disclosed_status(history.state))


def test_no_steps_are_left_of_a_testset_that_has_ended() -> None:
    """Whether by hand, by its first change, or because the last step is charged and waits."""
    ended = History.begun().commit("1", True).add(TestsetRetired(1, FirstChange(True)))
    by_hand = History.begun().add(TestsetRetired(1, ByHand("by hand")))
    used_up = History.begun(steps="1").commit("1", None)
    for history in (ended, by_hand, used_up):
        assert "left" not in next_act(disclosed_status(history.state))
    assert "Commits that wait for labels, or for a tick: 1." in next_act(
        disclosed_status(used_up.state)
    )


def test_the_guarantee_says_what_it_rests_on_while_developers_see_waiting() -> None:
    """Without ``disclose:`` waiting times are an answer; under none there is no answer at all."""
    waiting = (
        "It holds for developers who do not use waiting times: those depend on sealed examples "
        "and labels. `disclose: 24h` in the script hides them."
    )

    def lines(**keys: str) -> tuple[str, ...]:
        state = History.begun(**keys).state
        return rests_on(state, state.testsets[1])

    assert waiting in lines()
    assert waiting in lines(adaptivity="firstChange")
    hidden = lines(disclose="24h")
    assert waiting not in hidden
    assert hidden[-1].startswith("Signals come at fixed times.")
    assert not [line for line in lines(adaptivity="none -> a@b.org") if "waiting times" in line]
