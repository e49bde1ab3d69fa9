"""Which testset and which two models are shown; refused for a testset that is not released.

:func:`choose_comparison` is the only way to a :class:`ReleasedComparison`, and everything here is
computed from one. So nothing can be seen of a testset before its release. Looks are not recorded:
developers have the examples and labels, and no testset in use is concerned.

The pair that is shown by default follows from the signals, so it tells of no hidden verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from easeci.errors import MissingError, UsageError
from easeci.ledger.disclosure import signal_of
from easeci.ledger.signals import Signal
from easeci.ledger.state import State, Testset
from easeci.service.project import Project, no_testset
from easeci.vault.testset import SealedTestset

SHORTEST_ID = 4
"""As in git: fewer characters could as well be a branch."""
MOST_NAMED = 8


@dataclass(frozen=True)
class ComparedModel:
    """A model that predicted a testset, by its commit; ``step`` is None if no step tested it."""

    commit: str
    subject: str
    step: int | None
    model: str = field(repr=False)
    """Its name among the testset's predictions."""

    @property
    def words(self) -> str:
        """Commit, subject, and what it was on the testset."""
        role = "baseline" if self.step is None else f"step {self.step}"
        return " ".join(part for part in (self.commit[:10], self.subject, f"({role})") if part)


@dataclass(frozen=True)
class ReleasedComparison:
    """A released testset, and the models to compare on it; ``old`` is None if there is only one.

    ``models`` are all that can be chosen.
    """

    testset: int
    released_at: str
    condition: str
    classes: tuple[str, ...]
    columns: tuple[str, ...]
    """The columns that slices of the condition are made by."""
    models: tuple[ComparedModel, ...]
    new: ComparedModel
    old: ComparedModel | None
    sealed: SealedTestset = field(repr=False)
    label_files: tuple[str, ...] = field(repr=False)
    predictions: tuple[str, ...] = field(repr=False)
    """The files of the new model and, if there is one, of the old model."""

    @property
    def key(self) -> tuple[object, ...]:
        """A cache key: the tables are the same for equal keys."""
        return (self.testset, len(self.label_files), *self.predictions)


def choose_comparison(
    project: Project,
    number: int | None = None,
    *,
    commit: str | None = None,
    against: str | None = None,
) -> ReleasedComparison:
    """A released testset, by default the last one, with the models to compare.

    ``commit`` and ``against`` name the new and the old one. By default the new one is the last that
    was told to have passed, or else the last one; the old one is what it was compared with.
    """
    testset = _released(project.state, number)
    models = compared_models(project.state, testset)
    if not models:
        raise UsageError(
            f"no model was tested on testset {testset.number}",
            hint="There are labels, but no predictions that they could be compared with.",
        )
    tested = _Tested(project, testset, models)
    new = tested.find(commit) if commit else tested.default()
    old = tested.find(against) if against else tested.before(new)
    assert testset.released_at is not None
    return ReleasedComparison(
        testset=testset.number,
        released_at=testset.released_at,
        condition=testset.terms.condition,
        classes=tuple(testset.script.classes),
        columns=tuple(dict.fromkeys(where.column for where in testset.script.slices)),
        models=models,
        new=new,
        old=old,
        sealed=project.sealed(testset),
        label_files=tuple(testset.label_files),
        predictions=tuple(testset.predictions[m.model].file for m in (new, old) if m is not None),
    )


def _released(state: State, number: int | None) -> Testset:
    """The testset of this number, or the last one that is released; an error if it is not."""
    testsets = state.testsets
    if not testsets:
        raise no_testset()
    if number is None:
        released = [t for t in testsets.values() if t.released_at is not None]
        testset = released[-1] if released else testsets[max(testsets)]
    elif number in testsets:
        testset = testsets[number]
    else:
        raise MissingError(f"there is no testset {number}", hint=f"There are 1 to {max(testsets)}.")
    if testset.released_at is not None:
        _require_classes(testset)
        return testset
    if testset.retired is None:
        raise UsageError(
            f"testset {testset.number} is still in use: classes and slices are shown after release",
            hint="It can be released once it is retired (`easeci testset retire`).",
        )
    raise UsageError(
        f"testset {testset.number} is not released: classes and slices are shown after that",
        hint="`easeci testset release --to DIR` gives it to the developers.",
    )


def _require_classes(testset: Testset) -> None:
    """Refuse a testset whose outputs have scores: it has no classes to show."""
    if testset.terms.is_scored:
        raise UsageError(
            f"the outputs of testset {testset.number} have scores, and no classes to show",
            hint="`easeci testset release` writes its examples and references. `easeci report` and "
            "the pages of commits show mean scores.",
        )


def compared_models(state: State, testset: Testset) -> tuple[ComparedModel, ...]:
    """The models whose predictions on a testset are known: baselines first, then steps in order.

    A commit stands there once.
    """
    subjects = {submission.commit: submission.subject for submission in state.submissions}
    commits = dict(testset.built_models)
    steps: dict[str, int] = {}
    for submission in state.submissions:
        if submission.testset == testset.number:
            step = state.step_of(submission)
            commits[submission.commit] = submission.tested_model if step is None else step.model
            if step is not None:
                steps[submission.commit] = step.number
    found = [
        ComparedModel(commit, subjects.get(commit, ""), steps.get(commit), model)
        for commit, model in commits.items()
        if model in testset.predictions  # otherwise its program failed, or never ran
    ]
    return tuple(sorted(found, key=lambda model: model.step or 0))


@dataclass(frozen=True)
class _Tested:
    """The models that predicted a testset, to choose from."""

    project: Project
    testset: Testset
    models: tuple[ComparedModel, ...]

    def default(self) -> ComparedModel:
        """The last model that was told to have passed, or else the last one."""
        passed = [m for m in self.models if m.step and self._signal(m.step) is Signal.PASS]
        last = (passed or self.models)[-1]
        # Of several commits of one model, the one that was tested.
        return next(m for m in self.models if m.step == last.step and m.model == last.model)

    def before(self, new: ComparedModel) -> ComparedModel | None:
        """What a model was compared with; if no signal tells that, an earlier model, or None.

        Without a signal (under ``none``), what it was compared with follows from hidden verdicts.
        """
        if new.step is None:
            return None
        step = self.testset.steps[new.step - 1]
        told = self._signal(new.step) in (Signal.PASS, Signal.FAIL)
        earlier = [s.model for s in reversed(self.testset.steps[: new.step - 1])]
        for name in (step.baseline_model if told else None, self.testset.known_start, *earlier):
            found = [m for m in self.models if m.model == name and name != new.model]
            if found:
                return next((m for m in found if m.commit == step.baseline), found[0])
        return None

    def _signal(self, step: int) -> Signal:
        state = self.project.state
        return signal_of(state, state.submission(self.testset.steps[step - 1].submission))

    def find(self, revision: str) -> ComparedModel:
        """The model of a commit: named by the beginning of its id, a branch or a tag."""
        found = [m for m in self.models if m.commit.startswith(revision.lower())]
        if len(found) != 1 or len(revision) < SHORTEST_ID:
            commit = self.project.repository.resolve(revision)
            found = [m for m in self.models if m.commit == commit]
        if not found:
            more = " and others" if len(self.models) > MOST_NAMED else ""
            named = ", ".join(m.commit[:10] for m in self.models[:MOST_NAMED])
            raise MissingError(
                f"commit {revision[:40]} was not tested on testset {self.testset.number}",
                hint=f"Tested were {named}{more}.",
            )
        return found[0]
