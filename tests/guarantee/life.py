"""The life of a testset in memory, by the rules of ledger, disclosure and verdict themselves.

An example is a number x, drawn evenly from [0, 1). Its label is always ``RIGHT``. A model is a
function on [0, 1): the baseline is wrong below a cut and right from there on, and every other model
differs from it on some pieces. So the true Φ of a model is known exactly, and a pass of a model
whose Φ is not above the threshold is a wrong one.

:class:`Life` does what the service does, act for act, but predictions are written directly instead
of being built. A :class:`Hole` puts one rule of an older version back, by which an answer that
depends on sealed examples was free.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from easeci.evidence.cells import Code, codes_of, differs
from easeci.evidence.codes import Flags
from easeci.ledger.chain import Head, Record, chained
from easeci.ledger.charging import charge, free_answer, is_begun_only, is_unchanged
from easeci.ledger.disclosure import (
    DisclosedRow,
    disclosed_row,
    disclosed_rows,
    disclosed_status,
)
from easeci.ledger.events import (
    BaselineBuilt,
    BaselineSet,
    BuildFailed,
    Built,
    Event,
    LabelsAdded,
    ProjectOpened,
    SampleBuilt,
    SealedRunBegun,
    SealedRunFailed,
    Signalled,
    Submitted,
    TestsetAdded,
)
from easeci.ledger.fold import apply, fold
from easeci.ledger.sealed_script import unsealed
from easeci.ledger.signals import Signal
from easeci.ledger.state import State, Step, Submission, Testset
from easeci.ledger.ticks import tick_of
from easeci.ledger.turns import next_events
from easeci.script import Estimator, Script
from easeci.service.testsets.add import settled_estimate
from easeci.tables.examples import Examples
from easeci.times import later
from easeci.vault.intake import Offered
from easeci.verdict.decide import decide
from easeci.verdict.result import Verdict

RIGHT, WRONG, OTHER, UNDECLARED, CRASH = range(5)
"""What a model says of an input. ``OTHER`` is wrong too, but not what the baseline says there."""
START = "2026-11-16T00:00:00Z"
MINUTE = 60
ROUNDING = 1e-12
"""Widths of pieces that add up to nothing may leave this much in floats."""
NEVER = np.iinfo(np.int64).max
BASELINE = "baseline"
"""The commit that is the baseline when the testset is sealed."""

Points = npt.NDArray[np.float64]
Said = npt.NDArray[np.uint8]


class Piece(NamedTuple):
    """The inputs from ``start`` up to ``end``."""

    start: float
    end: float

    @property
    def mass(self) -> float:
        """The probability of an input in it."""
        return self.end - self.start


@dataclass(frozen=True)
class Model:
    """The baseline but for what it says on some pieces, which do not overlap.

    ``spells`` is a class that it uses somewhere without effect; only inputs of this piece have it
    as their label.
    """

    says: tuple[tuple[Piece, int], ...] = ()
    spells: Piece | None = None

    def on(self, points: Points, cut: float) -> Said:
        """What it says of each input, if the baseline is right from ``cut`` on."""
        said = np.where(points < cut, WRONG, RIGHT).astype(np.uint8)
        for (start, end), answer in self.says:
            said[(points >= start) & (points < end)] = answer
        return said

    def gain(self, cut: float) -> float:
        """The true n - o; pieces lie on one side of the cut."""
        return math.fsum(
            piece.mass * ((answer == RIGHT) - (piece.start >= cut)) for piece, answer in self.says
        )

    @property
    def may_fail(self) -> bool:
        """Whether its program fails on some input; then its condition is false."""
        return any(answer in (UNDECLARED, CRASH) for _, answer in self.says)


class Hole(Enum):
    """A rule of an older version."""

    SAME_PREDICTIONS = auto()
    """The same predictions as the baseline's on the sealed examples: BASELINE, free."""
    SEALED_UNCHANGED = auto()
    """The same predictions as the baseline's on the sealed examples: UNCHANGED, free."""
    FREE_FAILURE = auto()
    """A program that fails on the sealed examples: BUILD ERROR, free."""
    FREE_REFUSAL = auto()
    """A class that is not declared, in predictions for sealed examples: BUILD ERROR, free."""
    LABEL_REFUSAL = auto()
    """A class that no label of the testset has: BUILD ERROR, free."""
    TWO_CHANCES = auto()
    """Sequential while labels are missing, exact when all are there."""


class EndedError(Exception):
    """The testset is used up: no more commits are tested."""


@dataclass(frozen=True)
class World:
    """What is sealed, and what is public: the cut of the baseline, the script, the sample."""

    examples: Points
    keys: tuple[tuple[str, str], ...]
    cut: float = 0.5
    sample: Points = field(default_factory=lambda: np.zeros(0))
    labelled: bool = False
    """Whether all labels come with the testset; otherwise they come as verdicts want them."""
    hole: Hole | None = None

    @property
    def script(self) -> Script:
        """The script."""
        return _script(self.keys)


@cache
def _script(keys: tuple[tuple[str, str], ...]) -> Script:
    return unsealed({name: [text] for name, text in keys})


@cache
def _deciding(keys: tuple[tuple[str, str], ...], estimator: Estimator) -> Script:
    return replace(_script(keys), estimator=estimator)


@cache
def _settled(keys: tuple[tuple[str, str], ...], size: int, *, labelled: bool) -> Estimator:
    """The estimator that the service settles on when it seals so many examples."""
    ids = pl.int_range(size, eager=True)
    labels = pl.repeat(str(RIGHT) if labelled else None, size, dtype=pl.String, eager=True)
    examples = Examples("examples", ".csv", ids, pl.DataFrame(), b"", b"")
    return settled_estimate(_script(keys), Offered(examples, labels, None, ())).estimator


class Life:
    """The life of one testset. ``seen`` is everything that developers were shown, in order."""

    def __init__(self, world: World) -> None:
        self.world, self.state, self.now = world, State(), START
        self.seen: list[tuple[str, str]] = []
        self.events: list[Event] = []
        self._times: list[str] = []
        self.wrong_pass = False
        self._said: dict[Model, Said] = {}
        self._models: dict[str, Model] = {}
        self._label_file = np.full(len(world.examples), NEVER)
        """The number of the file that brought each label."""
        self._seal()

    def _seal(self) -> None:
        world = self.world
        estimator = _settled(world.keys, len(world.examples), labelled=world.labelled)
        texts = {name: [text] for name, text in world.keys}
        self._append(
            ProjectOpened("f" * 40),
            TestsetAdded(
                1,
                "examples",
                len(world.examples),
                None,
                texts,
                None,
                estimator.value,
                {},
                sample=len(world.sample),
            ),
        )
        self.testset.__dict__["script"] = world.script  # parsed once for all lives
        model = self._name(Model())
        made = _fingerprint(self._predict(Model()))
        self._append(BaselineBuilt(1, BASELINE, "", "", made, "", "", model))
        self._append(BaselineSet(BASELINE, "set"))
        if len(world.sample):
            sample = Model().on(world.sample, world.cut)
            self._append(
                SampleBuilt(
                    1,
                    BASELINE,
                    "",
                    "",
                    _fingerprint(sample),
                    "",
                    "",
                    0.0,
                    self.testset.public_model or BASELINE,
                )
            )
        if world.labelled:
            self.add_labels(range(len(world.examples)))

    @property
    def testset(self) -> Testset:
        """The only testset."""
        return self.state.testsets[1]

    @property
    def steps_left(self) -> int:
        """How many steps may still be charged."""
        return self.testset.script.steps - self.testset.steps_used

    @property
    def bits(self) -> str:
        """The history of the disclosed answers."""
        return self.testset.history

    def submit(self, model: Model, *, test: bool = False, candidate: bool = False) -> Signal:
        """Submit a new commit; what its developer is told.

        ``test``: also if it changes nothing on the public sample. ``candidate``: it becomes the
        baseline if it passes.
        """
        self.now = later(self.now, MINUTE)
        number = len(self.state.submissions) + 1
        submitted = Submitted(number, f"commit-{number}", "", None, candidate, 1, self._name(model))
        answer = free_answer(self.state, self.testset, submitted)
        if not answer and (self.testset.retired is not None or self.testset.used_up):
            raise EndedError
        self._append(submitted, *answer)
        submission = self.state.submission(number)
        if is_begun_only(submission):
            self._test(submission, test=test)
        self.advance()
        return self.look(number).signal

    def _test(self, submission: Submission, *, test: bool) -> None:
        """As the service does: on the sample, then charged, then on the sealed examples."""
        world, number, model = self.world, submission.number, self._models[submission.model]
        if len(world.sample):
            said = model.on(world.sample, world.cut)
            if _unusable(said):
                self._append(BuildFailed(number, "", "", "", public=True))
                return
            self._append(
                SampleBuilt(
                    1, submission.commit, "", "", _fingerprint(said), "", "", 0.0, submission.model
                )
            )
            by_sample = world.hole is not Hole.SEALED_UNCHANGED and not test
            if by_sample and is_unchanged(self.testset, submission):
                self._append(Signalled(number, Signal.UNCHANGED))
                return
        free = self._free_by_older_rule(submission)
        if free is not None:
            self._append(free)
            return
        self._append(*charge(self.state, self.testset, submission))
        if submission.ready:
            return
        self._append(SealedRunBegun(number))
        said = self._predict(model)
        if _unusable(said):
            self._append(SealedRunFailed(number, ""))
        else:
            self._append(Built(number, "", "", _fingerprint(said)))

    def _free_by_older_rule(self, submission: Submission) -> Event | None:
        """The answer for nothing that only a hole gives; it depends on sealed examples."""
        hole, number, model = self.world.hole, submission.number, self._models[submission.model]
        said = self._predict(model)
        same = bool((said == self._predict(Model())).all())
        failed = BuildFailed(number, "", "", "")
        match hole:
            case Hole.SAME_PREDICTIONS if same:
                return Signalled(number, Signal.BASELINE)
            case Hole.SEALED_UNCHANGED if same:
                return Signalled(number, Signal.UNCHANGED)
            case Hole.FREE_FAILURE if (said == CRASH).any():
                return failed
            case Hole.FREE_REFUSAL if (said == UNDECLARED).any():
                return failed
            case Hole.LABEL_REFUSAL if model.spells is not None:
                start, end = model.spells
                known = (self.world.examples >= start) & (self.world.examples < end)
                return None if known.any() else failed
        return None

    def _name(self, model: Model) -> str:
        """What the ledger knows a model by."""
        name = repr(model)
        self._models[name] = model
        return name

    def _predict(self, model: Model) -> Said:
        said = self._said.get(model)
        if said is None:
            said = self._said[model] = model.on(self.world.examples, self.world.cut)
        return said

    def label_wanted(self) -> None:
        """The labellers give every label that a verdict waits for, until none does."""
        while (step := self.testset.undecided_step) is not None:
            self.add_labels(self._verdict_of(step).wanted)
            self.advance()

    def wanted(self) -> tuple[int, ...]:
        """The labels that the next verdict waits for."""
        step = self.testset.undecided_step
        return () if step is None else self._verdict_of(step).wanted

    def add_labels(self, positions: Iterable[int]) -> None:
        """One more file of labels."""
        wanted = np.fromiter(positions, np.int64)
        fresh = wanted[self._label_file[wanted] == NEVER]
        self._label_file[fresh] = len(self.testset.label_files)
        self._append(LabelsAdded(1, f"labels {len(self.testset.label_files)}", "", len(fresh)))

    def wait_for_tick(self) -> None:
        """Go on to the time of the next signal, if it has a fixed one."""
        step = self.testset.next_signal
        tick = None if step is None else tick_of(self.testset, step)
        if tick is not None:
            self.now = max(self.now, tick)
            self.advance()

    def advance(self) -> None:
        """Decide and answer as far as labels and time allow."""
        while self.testset.retired is None:
            events = next_events(self.state, self.testset, self.now, self._verdict_of)
            if not events:
                return
            self._append(*events)

    def look(self, number: int) -> DisclosedRow:
        """Look at one submission as its developer does."""
        row = disclosed_row(self.state, self.state.submission(number))
        self.seen.append((self.now, str(row)))
        return row

    def look_again(self) -> DisclosedRow:
        """Look at the last submission again."""
        return self.look(len(self.state.submissions))

    def look_at_all(self) -> list[DisclosedRow]:
        """Look at every submission, and at the testset, as developers do."""
        rows = disclosed_rows(self.state)
        status = disclosed_status(self.state)
        self.seen += [(self.now, str(shown)) for shown in (*rows, status)]
        return rows

    def _verdict_of(self, step: Step) -> Verdict:
        """The verdict by the labels known so far. Only examples that differ matter to n - o."""
        assert step.baseline is not None
        new = self._models[self.state.submission(step.submission).model]
        assert step.baseline_model is not None
        base = self._models[step.baseline_model]
        said, old = self._predict(new), self._predict(base)
        known = self._label_file < len(self.testset.label_files)
        codes = codes_of(
            known.astype(np.uint8),
            differ=said != old,
            new_right=said == RIGHT,
            old_right=old == RIGHT,
        )
        at_hand = self._label_file < (step.at_hand or 0)
        where, estimator = np.flatnonzero(differs(codes)), self._estimator(known)
        if estimator is Estimator.EXACT and known.all():
            where = where[np.argsort(codes[where])]  # only counts matter to it
        verdict = _verdict(
            _deciding(self.world.keys, estimator),
            self.testset.history[: step.number - 1],
            len(codes),
            codes[where].tobytes(),
            at_hand[where].tobytes(),
        )
        if verdict.passed and self._is_false(new, base):
            self.wrong_pass = True
        return replace(verdict, wanted=tuple(int(where[p]) for p in verdict.wanted))

    def _is_false(self, new: Model, base: Model) -> bool:
        threshold = float(self.testset.script.clauses[0].threshold)
        gain = new.gain(self.world.cut) - base.gain(self.world.cut)
        return new.may_fail or gain <= threshold + ROUNDING

    def _estimator(self, known: Flags) -> Estimator:
        if self.world.hole is Hole.TWO_CHANCES and known.all():
            return Estimator.EXACT
        return self.testset.estimator

    def _append(self, *events: Event) -> None:
        for event in events:
            self.events.append(event)
            self._times.append(self.now)
            record = Record(len(self.events), self.now, event.kind, event.VERSION, "", "")
            apply(self.state, event, record)

    def reread(self) -> State:
        """The state that the recorded events add up to."""
        records = []
        for number, (at, event) in enumerate(zip(self._times, self.events, strict=True), 1):
            records += chained(b"key", Head(number - 1, ""), at, [event])
        return fold(records)


def _unusable(said: Said) -> bool:
    return bool((said >= UNDECLARED).any())


def _fingerprint(said: Said) -> str:
    return said.tobytes().hex()


@cache
def _verdict(script: Script, history: str, examples: int, track: bytes, at_hand: bytes) -> Verdict:
    """The verdict on a condition whose score is 0 where the models agree.

    Those examples come last here; where they lie does not matter (``test_life.py``). So lives whose
    differing examples have the same codes share the work.
    """
    codes = np.full(examples, Code.AGREE_UNLABELLED, np.uint8)
    codes[: len(track)] = np.frombuffer(track, np.uint8)
    flags = np.zeros(examples, bool)
    flags[: len(at_hand)] = np.frombuffer(at_hand, bool)
    return decide(script, codes, history, at_hand=flags)
