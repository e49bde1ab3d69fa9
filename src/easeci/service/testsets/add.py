"""A testset is offered, checked, and sealed with its script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from easeci.build.same_model import require_program_kept
from easeci.build.scoring import load_scorer
from easeci.errors import DataError, ScriptError, UsageError
from easeci.ledger.events import Event, LabelsAdded, TestsetAdded
from easeci.ledger.fold import added_testset
from easeci.ledger.sealed_script import sealed
from easeci.plan import Estimate, plan, sensitivity_left
from easeci.plan.bring import examples_to_bring, sample_size
from easeci.plan.prefix import prefix_lengths
from easeci.script import Adaptivity, Entry, Estimator, Script, assemble
from easeci.script.scorer import ScorerKind
from easeci.service.commits.advance import acting
from easeci.service.mail.delivery import require_transport
from easeci.service.project import Project, utc_now
from easeci.service.scripts import find_script, load_entries
from easeci.service.testsets.first_baseline import build_first, choose_baseline
from easeci.service.testsets.scorer_trial import try_scorer
from easeci.service.testsets.small_slices import expanded, require_large_slices
from easeci.vault import paths
from easeci.vault.classes import classes_line, require_labelled_classes
from easeci.vault.intake import Offered, load_offered
from easeci.vault.overlap import FreshExamples, Overlap, leave_out_known
from easeci.vault.sealing import OfferedScorer, seal

MOST_LEFT_OUT = 0.01
"""Above this share the owner is warned of examples that were left out."""


@dataclass(frozen=True)
class Added:
    """What was added: its size, what the plan needs, and what is missing.

    ``examples`` and ``labels`` are those of the sealed testset, without its public ``sample``.
    ``left_out`` counts examples that earlier testsets had; ``overlaps`` says which.
    """

    testset: int
    examples: int
    labels: int
    sample: int
    left_out: int
    needed: int | None
    estimator: Estimator
    sensitivity_left: float | None
    overlaps: tuple[Overlap, ...]
    warnings: tuple[str, ...]
    baseline: str | None
    classes_line: str | None = None
    """The line that would declare the classes of the labels, if the script declares none."""

    @property
    def loss(self) -> str | None:
        """What is lost because the testset is smaller than planned; None if it is not."""
        if self.needed is None or self.examples >= self.needed:
            return None
        if self.sensitivity_left is None:
            return "answers are as safe, but with a wider tolerance than the script's."
        if self.sensitivity_left == 0.0:
            return "answers are as safe, but it cannot be promised that clearly good commits pass."
        return (
            f"answers are as safe, but the sensitivity that can be promised is "
            f"{self.sensitivity_left:.1%} instead of the script's."
        )


@dataclass(frozen=True)
class Offer:
    """What the owner wants to add, and which problems the owner accepts.

    ``baseline`` is the commit that the first one is compared with; None is the usual one.
    """

    examples: Path
    labels: Path | None = None
    label_column: str | None = None
    files: Path | None = None
    script: Path | None = None
    baseline: str | None = None
    allow_smaller: bool = False
    keep_label_column: bool = False
    unsandboxed: bool = False


def add_testset(project: Project, offer: Offer, waiting: Callable[[], None] | None = None) -> Added:
    """Seal examples, labels and script as the project's next testset.

    Examples that earlier testsets had are left out, and a public sample is set aside. The estimator
    is fixed here, so a verdict never depends on when labels arrive.
    """
    entries, source, folder = _script(project, offer.script)
    script = assemble(entries, source or str(offer.script))
    _require_runnable(script)
    scorer = _scorer(script, folder)
    require_transport(script)
    offered = load_offered(
        offer.examples,
        labels=offer.labels,
        label_column=offer.label_column,
        files=offer.files,
        scorer=script.scorer,
    )
    _require_blind(offered, offer)
    require_labelled_classes(offered.labels, script.classes)
    offered.require_slices(script.slices, offer.label_column)
    with acting(project, waiting):
        _require_no_active(project)
        fresh = _fresh(project, offered)
        needs = settled_estimate(script, fresh.offered)
        left = _require_size(script, needs, fresh, allowed=offer.allow_smaller)
        small = require_large_slices(script, fresh.offered, allowed=offer.allow_smaller)
        number = len(project.state.testsets) + 1
        _clear_remains(project, number)
        size = sample_size(script.sample, fresh.offered.size)
        baseline = choose_baseline(project, script, offer.baseline)
        kept = seal(project.vault, number, fresh.offered, sample=size, scorer=scorer)
        added = TestsetAdded(
            testset=number,
            name=offer.examples.name.encode("utf-8", "replace").decode(),
            examples=kept.examples,
            needed=needs.testset_size,
            script=sealed(entries),
            source=source,
            estimator=needs.estimator,
            files=kept.digests,
            shared={str(overlap.testset): overlap.shared for overlap in fresh.overlaps},
            sample=kept.sample,
            left_out=True,
            prefixes=prefix_lengths(expanded(script, fresh.offered)),
        )
        events: list[Event] = [
            LabelsAdded(number, file, kept.digests[file], kept.labels_known)
            for file in kept.label_files
        ]
        if baseline is not None:
            events += _baseline_events(project, added, baseline, offer)
        project.append(added, *events)
    return Added(
        testset=number,
        examples=kept.examples,
        labels=kept.labels_known,
        sample=kept.sample,
        left_out=fresh.left_out,
        needed=needs.testset_size,
        estimator=needs.estimator,
        sensitivity_left=left,
        overlaps=fresh.overlaps,
        warnings=(
            *script.warnings(),
            *small,
            *offered.warnings,
            *_left_out(fresh),
            *_uncommitted(project, source),
            *_awaits_predictions(project, script),
        ),
        baseline=baseline,
        classes_line=None if script.classes or script.is_scored else classes_line(offered.labels),
    )


def settled_estimate(script: Script, offered: Offered) -> Estimate:
    """What the testset needs, by the estimator that will decide: as the script says.

    ``auto`` is settled here, once: exact if every label that the condition needs is there and
    exact fits it, and otherwise sequential. A rule that changes over when labels arrive would get
    two chances.
    """
    designed = plan(script)
    if script.estimator is not Estimator.AUTO:
        return designed.chosen
    complete = not script.needs_labels or offered.labels_known == offered.size
    exact = designed.estimate(Estimator.EXACT)
    return exact if complete and exact.applies else designed.estimate(Estimator.SEQUENTIAL)


def _script(project: Project, path: Path | None) -> tuple[dict[str, Entry], str | None, Path]:
    """The script's entries, its path in the repository if it lies there, and its folder."""
    top = project.repository.top
    found = path or find_script(top or Path())
    entries = load_entries(found)
    inside = top is not None and found.absolute().is_relative_to(top)
    source = found.absolute().relative_to(top).as_posix() if top and inside else None
    return entries, source, found.absolute().parent


def _scorer(script: Script, folder: Path) -> OfferedScorer | None:
    """The owner's scorer, next to the script; None if the script names no program as its scorer.

    It comes from the owner's work tree and is sealed here. No commit can bring another.
    """
    if script.scorer is None or script.scorer.kind is not ScorerKind.PROGRAM:
        return None
    path = folder / script.scorer.command
    return OfferedScorer(path.name, load_scorer(path))


def _uncommitted(project: Project, source: str | None) -> tuple[str, ...]:
    """A warning if the next commit would not contain the script that was sealed."""
    top = project.repository.top
    if source is None or top is None:
        return ()
    try:
        committed = project.repository.read_commit("HEAD", source).file
    except UsageError:  # no commits yet
        committed = None
    if committed == (top / source).read_bytes():
        return ()
    return (f"{source} has changes that are not committed: commit it before the next run",)


def _awaits_predictions(project: Project, script: Script) -> tuple[str, ...]:
    """A warning if the baseline cannot be built, because the script names no program."""
    commit = project.state.baseline
    if script.program is not None or not script.needs_old_model or commit is None:
        return ()
    return (
        f"the baseline, commit {commit[:10]}, has no predictions on this testset yet: "
        f"`easeci baseline set {commit[:10]} --predictions FILE` gives them",
    )


def _require_runnable(script: Script) -> None:
    require_program_kept(script.program or "", script.ignore)
    if script.is_scored and script.scorer is None:
        raise ScriptError(
            "scores: needs a scorer for a testset",
            hint="Name one, such as   scorer: ./score.py   or   scorer: external   to import them.",
        )
    if script.adaptivity is Adaptivity.NONE and script.third_party is None:
        raise ScriptError(
            "adaptivity none needs an address that the verdicts are sent to",
            hint="Write   adaptivity: none -> owner@example.org",
        )


def _require_blind(offered: Offered, offer: Offer) -> None:
    """A column called label most likely holds the labels, and sealing cannot be undone."""
    column = offered.label_column
    if column is None or offer.label_column is not None or offer.keep_label_column:
        return
    raise DataError(
        f"the examples have a column '{column}', and models would see it",
        hint="If it holds the labels, name it as --label-column: they are split off. If it holds "
        "something else that models need, --keep-label-column leaves it where it is.",
    )


def _require_size(
    script: Script, needs: Estimate, fresh: FreshExamples, *, allowed: bool
) -> float | None:
    """The sensitivity that remains if the testset is smaller than planned; None if it is not."""
    needed, offered = needs.testset_size, fresh.offered.size
    sample = sample_size(script.sample, offered)
    left = offered - sample
    if needed is None or left >= needed:
        return None
    if not allowed:
        bring = examples_to_bring(needed, script.sample).examples + fresh.left_out
        minus = f", {sample:,} of them for the public sample" if sample else ""
        known = f"; {fresh.left_out:,} more were in earlier testsets" if fresh.left_out else ""
        raise DataError(
            f"the testset is too small: the plan needs {needed:,} sealed examples "
            f"({needs.estimator}), and {left:,} are left of {offered:,}{minus}{known}",
            hint=f"Bring {bring:,} in all, the sample included: "
            f"{bring - offered - fresh.left_out:,} are missing. Or loosen the script (`easeci "
            "plan` shows what each change saves); or use --allow-smaller: no answer gets less "
            "safe, but clearly good commits may be missed more often.",
        )
    return sensitivity_left(replace(script, estimator=needs.estimator), left)


def _require_no_active(project: Project) -> None:
    testset = project.state.active_testset
    if testset is not None:
        used = f"{testset.steps_used:,} of {testset.script.steps:,} steps are used"
        raise UsageError(
            f"testset {testset.number} is still in use ({used})",
            hint="One testset at a time. `easeci testset retire` ends its life early.",
        )


def _fresh(project: Project, offered: Offered) -> FreshExamples:
    """What is left of the examples without those that earlier testsets or their samples had."""
    earlier = [project.sealed(testset) for testset in project.state.testsets.values()]
    fresh = leave_out_known(offered, earlier)
    if fresh.offered.size:
        return fresh
    whole = next((found for found in fresh.overlaps if found.shared == offered.size), None)
    where = "earlier testsets" if whole is None else f"testset {whole.testset}"
    if whole is not None and whole.by_content < offered.size:
        hint = (
            f"{whole.by_id:,} have the id of one there. If ids only number the rows, give the "
            "examples of every testset ids of their own."
        )
    else:
        hint = "Developers have adapted to answers on them: add new examples."
    raise DataError(f"all {offered.size:,} examples were in {where}", hint=hint)


def _left_out(fresh: FreshExamples) -> tuple[str, ...]:
    """A warning if much was left out: the rest is not a sample of all inputs any more."""
    size = fresh.offered.size + fresh.left_out
    if fresh.left_out <= MOST_LEFT_OUT * size:
        return ()
    return (
        f"{fresh.left_out:,} of {size:,} examples ({fresh.left_out / size:.1%}) were left out, "
        "because earlier testsets or their samples had them: the guarantee is now about inputs "
        "unlike those",
    )


def _clear_remains(project: Project, number: int) -> None:
    """Remove what a command left that was killed while sealing; the ledger knows nothing of it."""
    project.vault.sweep()
    if number in project.vault.numbers():
        project.vault.discard(number)


def _baseline_events(
    project: Project, added: TestsetAdded, commit: str, offer: Offer
) -> list[Event]:
    """Build the baseline on the new testset; if that fails, nothing of the testset is left."""
    try:
        testset = added_testset(added, utc_now())
        named = offer.baseline is not None
        events = build_first(project, testset, commit, named=named, unsandboxed=offer.unsandboxed)
        project.unsandboxed = offer.unsandboxed
        labels = [name for name in added.files if name == paths.FIRST_LABELS]
        try_scorer(project, testset, labels, events)
    except BaseException:
        project.vault.discard(added.testset)
        raise
    return events
