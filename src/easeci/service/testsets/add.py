"""A testset is offered, checked, and sealed with its script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from easeci.build.detection import allowed_sandboxes
from easeci.errors import BuildError, DataError, ScriptError, UsageError
from easeci.ledger.events import Event, LabelsAdded, TestsetAdded
from easeci.ledger.sealed_script import sealed
from easeci.plan import Estimate, plan, sensitivity_left
from easeci.script import Adaptivity, Entry, Estimator, Script, assemble
from easeci.service.commits.advance import acting
from easeci.service.commits.baseline import ensure_predictions
from easeci.service.commits.build import program_of
from easeci.service.mail.delivery import require_transport
from easeci.service.project import Project
from easeci.service.scripts import find_script, load_entries
from easeci.vault.intake import Offered, load_offered
from easeci.vault.sealing import Overlap, overlaps, seal

MOST_SHARED = 0.01


@dataclass(frozen=True)
class Added:
    """What was added: its size, what the plan needs, and what is missing."""

    testset: int
    examples: int
    labels: int
    needed: int | None
    estimator: Estimator
    sensitivity_left: float | None
    overlaps: tuple[Overlap, ...]
    warnings: tuple[str, ...]
    baseline: str | None
    baseline_failure: str | None

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
    """What the owner wants to add, and which problems the owner accepts."""

    examples: Path
    labels: Path | None = None
    label_column: str | None = None
    files: Path | None = None
    script: Path | None = None
    allow_smaller: bool = False
    allow_overlap: bool = False
    keep_label_column: bool = False
    unsandboxed: bool = False


def add_testset(project: Project, offer: Offer, waiting: Callable[[], None] | None = None) -> Added:
    """Seal examples, labels and script as the project's next testset.

    The estimator is fixed here: ``auto`` becomes the plan's recommendation. So a verdict never
    depends on how many labels happen to be there.
    """
    entries, source = _script(project, offer.script)
    script = assemble(entries, source or str(offer.script))
    _require_runnable(script)
    require_transport(script)
    needs = plan(script).chosen
    offered = load_offered(
        offer.examples, labels=offer.labels, label_column=offer.label_column, files=offer.files
    )
    _require_blind(offered, offer)
    left = _require_size(script, needs, offered.size, allowed=offer.allow_smaller)
    with acting(project, waiting):
        _require_no_active(project)
        shared = _require_fresh(project, offered, allowed=offer.allow_overlap)
        number = len(project.state.testsets) + 1
        _clear_remains(project, number)
        kept = seal(project.vault, number, offered)
        events: list[Event] = [
            TestsetAdded(
                testset=number,
                name=offer.examples.name.encode("utf-8", "replace").decode(),
                examples=kept.examples,
                needed=needs.testset_size,
                script=sealed(entries),
                source=source,
                estimator=needs.estimator,
                files=kept.digests,
                shared={str(overlap.testset): overlap.shared for overlap in shared},
            )
        ]
        for file in kept.label_files:
            events.append(LabelsAdded(number, file, kept.digests[file], kept.labels_known))
        project.append(*events)
        failure = _build_baseline(project, offer.unsandboxed)
    return Added(
        testset=number,
        examples=offered.size,
        labels=offered.labels_known,
        needed=needs.testset_size,
        estimator=needs.estimator,
        sensitivity_left=left,
        overlaps=tuple(shared),
        warnings=(*script.warnings(), *offered.warnings, *_uncommitted(project, source)),
        baseline=project.state.baseline if script.needs_old_model else None,
        baseline_failure=failure,
    )


def _script(project: Project, path: Path | None) -> tuple[dict[str, Entry], str | None]:
    """The script's entries, and its path in the repository if it lies there."""
    top = project.repository.top
    found = path or find_script(top or Path())
    entries = load_entries(found)
    inside = top is not None and found.absolute().is_relative_to(top)
    return entries, found.absolute().relative_to(top).as_posix() if top and inside else None


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


def _require_runnable(script: Script) -> None:
    program_of(script)
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


def _require_size(script: Script, needs: Estimate, examples: int, *, allowed: bool) -> float | None:
    """The sensitivity that remains if the testset is smaller than planned; None if it is not."""
    needed = needs.testset_size
    if needed is None or examples >= needed:
        return None
    if not allowed:
        raise DataError(
            f"the testset is too small: it has {examples:,} examples, the plan needs "
            f"{needed:,} ({needs.estimator}); {needed - examples:,} are missing",
            hint="Add more; or loosen the script (`easeci plan` shows what each change saves); or "
            "use --allow-smaller: no answer gets less safe, but clearly good commits may be "
            "missed more often.",
        )
    return sensitivity_left(replace(script, estimator=needs.estimator), examples)


def _require_no_active(project: Project) -> None:
    testset = project.state.active_testset
    if testset is not None:
        used = f"{testset.steps_used:,} of {testset.script.steps:,} steps are used"
        raise UsageError(
            f"testset {testset.number} is still in use ({used})",
            hint="One testset at a time. `easeci testset retire` ends its life early.",
        )


def _require_fresh(project: Project, offered: Offered, *, allowed: bool) -> list[Overlap]:
    earlier = [project.sealed(testset) for testset in project.state.testsets.values()]
    found = overlaps(offered, earlier)
    for overlap in found:
        if overlap.identical:
            raise DataError(
                f"these are the examples of testset {overlap.testset} again",
                hint="Developers have adapted to answers on them: add new examples.",
            )
        if overlap.share > MOST_SHARED and not allowed:
            raise DataError(
                f"{overlap.shared:,} of the examples ({float(overlap.share):.1%}) were in testset "
                f"{overlap.testset} already",
                hint="Remove them: developers know answers on them. --allow-overlap keeps them; "
                "the guarantee then assumes that they make no difference.",
            )
    return found


def _clear_remains(project: Project, number: int) -> None:
    """Remove what a command left that was killed while sealing; the ledger knows nothing of it."""
    project.vault.sweep()
    if number in project.vault.numbers():
        project.vault.discard(number)


def _build_baseline(project: Project, unsandboxed: bool) -> str | None:
    """Build the baseline on the new testset. If that fails, the testset stays; returns why."""
    testset = project.require_active()
    if project.state.baseline is None or not testset.script.needs_old_model:
        return None
    try:
        sandboxes = allowed_sandboxes(project.repository, unsandboxed=unsandboxed)
        ensure_predictions(project, testset, sandboxes)
    except BuildError as error:
        return str(error)
    return None
