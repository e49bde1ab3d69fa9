"""A project's life by the pure rules alone: what is free, what happens next, what is folded.

Builds and verdicts are given: each step has the answer that the world holds for it, some time after
its turn has come. So two worlds can differ in hidden facts alone, and be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from easeci.ledger import turns
from easeci.ledger.baselines import choice
from easeci.ledger.chain import chained, start
from easeci.ledger.charging import (
    charge,
    free_answer,
    is_begun_only,
    is_unchanged,
    known_submission,
    takes_file,
)
from easeci.ledger.disclosure import disclosed_rows, disclosed_status
from easeci.ledger.events import (
    SENT,
    BaselineBuilt,
    BaselineSet,
    Built,
    Event,
    SampleBuilt,
    SealedRunBegun,
    SealedRunFailed,
    Signalled,
    Submitted,
    TestsetRetired,
)
from easeci.ledger.fold import apply
from easeci.ledger.reasons import ByHand
from easeci.ledger.signals import Signal
from easeci.ledger.state import State, Step, Submission, Testset
from easeci.times import later
from tests.histories import KEY, added, verdict

BEGIN = "2026-11-16T00:00:00Z"
MOST_EVENTS = 300
"""More at one moment would be a loop."""


@dataclass
class World:
    """What will happen on each step (testset, number): its answer, and how long it waits."""

    answers: Mapping[tuple[int, int], bool]
    delays: Mapping[tuple[int, int], int]
    keys: Mapping[str, str]
    state: State = field(default_factory=State)
    seconds: int = 0
    turned: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def testset(self) -> Testset:
        """The latest testset."""
        found = self.state.latest_testset
        assert found is not None
        return found

    @property
    def now(self) -> str:
        return later(BEGIN, self.seconds)

    def add(self, *events: Event) -> None:
        """Record events."""
        for event in events:
            head = self.state.head or start(KEY, "p")
            (record,) = chained(KEY, head, self.now, [event])
            apply(self.state, event, record)

    def seal(self, commit: str | None, model: str = "", *, named: bool = False) -> None:
        """Add the next testset, with a baseline that is built on it."""
        number = len(self.state.testsets) + 1
        chosen = None if commit is None else choice(self.state, commit, named=named)
        self.add(added(number, **self.keys), *([] if chosen is None else [chosen]))
        if commit is not None:
            self.add(
                BaselineBuilt(number, commit, "f", "0", model, "l", "1", model=model),
                self._on_sample(number, commit, model),
            )

    def retire(self) -> None:
        """The owner ends the testset."""
        self.catch_up()
        if self.testset.retired is None:
            self.add(TestsetRetired(self.testset.number, ByHand("by hand")))

    def next_testset(self) -> None:
        """Retire the testset, and seal the next one with the usual baseline."""
        self.retire()
        self.seal(self.state.baseline, self.testset.real_model or "")

    def set_baseline(self, commit: str, model: str) -> None:
        """The owner chooses a baseline."""
        number = self.testset.number
        self.add(
            BaselineBuilt(number, commit, "f", "0", model, "l", "1", model=model),
            BaselineSet(commit, "set"),
        )

    def wait(self, seconds: int) -> None:
        """Time passes, and a watcher looks every minute."""
        until = self.seconds + seconds
        while self.seconds < until:
            self.seconds = min(self.seconds + 60, until)
            self.catch_up()

    def catch_up(self) -> None:
        """Everything that happens without a build."""
        with mock.patch.object(turns, "record_of", lambda found: found):
            for _ in range(MOST_EVENTS):
                testset = self.state.active_testset
                verdict_of: Any = self._verdict_of
                if testset is None:
                    return
                events = turns.next_events(self.state, testset, self.now, verdict_of)
                if not events:
                    return
                self.add(*events)
        raise AssertionError("it never ends")

    def _verdict_of(self, step: Step) -> object:
        key = (step.testset, step.number)
        began = self.turned.setdefault(key, self.seconds)
        if self.seconds - began < self.delays.get(key, 0):
            return verdict(passed=None)
        return verdict(passed=self.answers[key])

    def run(
        self,
        commit: str,
        model: str,
        *,
        candidate: bool = True,
        test: bool = False,
        run: str = "ends",
    ) -> tuple[str, int | None, int]:
        """``easeci run``: what is told, the step, and how many steps it cost.

        ``run`` says what becomes of the run on sealed examples: it ends, fails or waits. It is
        "sent" if a file of predictions comes with the commit.
        """
        self.catch_up()
        testset, used = self.testset, self.testset.steps_used
        found = known_submission(self.state, testset, commit, candidate, test=test)
        if found is None or found.model != model:
            found = self._submit(commit, model, candidate)
            if found is None:
                return "refused", None, 0
            if is_begun_only(found):
                self._test(found, test=test, run=run)
        self.catch_up()
        row = disclosed_rows(self.state)[found.number - 1]
        return str(row.signal), row.step, testset.steps_used - used

    def _submit(self, commit: str, model: str, candidate: bool) -> Submission | None:
        state, testset = self.state, self.testset
        known = state.public_baseline is not None or testset.starts_with_baseline or testset.steps
        if testset.script.needs_old_model and not known and not candidate:
            return None
        number, branch = len(state.submissions) + 1, "main" if candidate else "side"
        submitted = Submitted(number, commit, "", branch, candidate, testset.number, model)
        answer = free_answer(state, testset, submitted)
        if not answer and (testset.retired is not None or testset.used_up):
            return None
        self.add(submitted, *answer)
        return state.submission(number)

    def _test(self, submission: Submission, *, test: bool, run: str) -> None:
        testset, model, number = self.testset, submission.model, submission.number
        if model in testset.sent_models:
            self.add(*charge(self.state, testset, submission))
            return
        if run == "sent" and takes_file(testset, submission):
            made = Built(number, f"p/sent {model}", "0", f"sent {model}", origin=SENT)
            self.add(*charge(self.state, testset, submission, made))
            return
        if model not in testset.sample_predictions:
            self.add(self._on_sample(testset.number, submission.commit, model))
        if is_unchanged(testset, submission) and not test:
            self.add(Signalled(number, Signal.UNCHANGED))
            return
        self.add(*charge(self.state, testset, submission))
        if not submission.ready and run in ("ends", "sent"):
            self.add(SealedRunBegun(number), Built(number, f"p/{model}", "0", model))
        elif not submission.ready and run == "fails":
            self.add(SealedRunBegun(number), SealedRunFailed(number, "exit code 3"))

    @staticmethod
    def _on_sample(testset: int, commit: str, model: str) -> SampleBuilt:
        return SampleBuilt(testset, commit, "s", "0", f"on sample {model}", "l", "1", 0.1, model)

    @property
    def view(self) -> object:
        """Everything that a developer may see, and what it is derived from."""
        state = self.state
        models = [testset.public_model for testset in state.testsets.values()]
        return disclosed_rows(state), disclosed_status(state), state.public_baseline, models

    @property
    def public(self) -> tuple[str | None, str | None]:
        """The baseline that developers know of."""
        return self.state.public_baseline, self.testset.public_model

    @property
    def real(self) -> tuple[str | None, str | None]:
        """The baseline."""
        return self.state.baseline, self.testset.real_model
