"""The owner's pages of testsets: add one, add labels, retire it, release it; what it showed."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from starlette.responses import Response, StreamingResponse

from easeci.errors import EaseciError, UsageError
from easeci.ledger.disclosure import disclosed_reason
from easeci.ledger.state import Testset
from easeci.plan import Plan
from easeci.plan.bring import Bring, examples_to_bring
from easeci.service.checks import make_plan
from easeci.service.labelling.files import LabelsImported, import_labels
from easeci.service.scripts import find_script, load_script
from easeci.service.testsets.add import Added, Offer, add_testset
from easeci.service.testsets.release import release_testset
from easeci.service.testsets.retire import retire_testset
from easeci.views.released.choice import choose_comparison
from easeci.views.released.contents import make_released_report
from easeci.views.released.page import released_view
from easeci.views.released.wording import percent
from easeci.web.flash import FlashMessage
from easeci.web.request import RequestContext, refusal_status

HOME = "/testsets"
LONGEST_REASON = 200
CONTROLS = {
    "--allow-smaller": "Even if it is smaller than planned",
    "--keep-label-column": "Even if models see a column that is called label",
    "--label-column": "Or the column that holds them",
    "--baseline": "Baseline commit, if not the usual one",
    "--correct": "Correct labels that are known already",
}
"""The page's words for the options of the commands."""


@dataclass(frozen=True)
class TestsetCard:
    """A testset as the page shows it."""

    testset: Testset
    ended: str | None


def show(context: RequestContext) -> Response:
    """The page of all testsets."""
    return _page(context, context.notes)


def add(context: RequestContext) -> Response:
    """Seal an uploaded testset."""
    with context.upload("examples") as examples, context.upload("labels") as labels:
        if examples is None:
            raise UsageError("no file was chosen", hint="Choose one with the examples.")
        offer = Offer(
            examples,
            labels=labels,
            label_column=context.text("label_column").strip() or None,
            allow_smaller=context.text("allow_smaller") == "yes",
            baseline=context.text("baseline").strip() or None,
            keep_label_column=context.text("keep_label_column") == "yes",
        )
        try:
            with context.site.acting() as project:
                added = add_testset(project, offer)
        except EaseciError as error:
            return _again(context, error, examples, labels)
    return context.done(HOME, _added(added))


def labels(context: RequestContext) -> Response:
    """Add an uploaded file of labels to a testset."""
    with context.upload("labels") as path:
        if path is None:
            raise UsageError("no file was chosen", hint="Choose one with the columns id and label.")
        try:
            with context.site.acting() as project:
                imported = import_labels(
                    project,
                    path,
                    correct=context.text("correct") == "yes",
                    by=context.who.name,
                    number=context.number("number"),
                )
        except EaseciError as error:
            return _again(context, error, path)
    return context.done(HOME, _imported(imported))


def retire(context: RequestContext) -> Response:
    """Retire a testset."""
    if context.text("sure") != "yes":
        return _again(context, UsageError("nothing was retired", hint="Tick that you are sure."))
    reason = context.text("reason").strip()[:LONGEST_REASON] or "by hand"
    try:
        with context.site.acting() as project:
            retired = retire_testset(project, reason, number=context.number("number"))
    except EaseciError as error:
        return _again(context, error)
    return context.done(HOME, FlashMessage(f"Testset {retired.number} is retired."))


def release(context: RequestContext) -> Response:
    """Release a retired testset: one file for the developers.

    The browser downloads it and stays on the page, so a reload does not send the form again.
    """
    with tempfile.TemporaryDirectory(prefix="easeci-release-") as folder:
        content = Path(folder) / "content"
        with context.site.acting() as project:
            number = context.number("number")
            released = release_testset(project, content, number=number, by=context.who.name)
        # A file without a name, so that nothing is left however the download ends.
        packed = tempfile.TemporaryFile()  # noqa: SIM115 - closed after it was read
        try:
            _pack(content, packed)
        except BaseException:
            packed.close()
            raise
    return StreamingResponse(
        _chunks(packed),
        media_type="application/zip",
        headers={
            "Content-Disposition": f'attachment; filename="testset-{released.testset}.zip"',
            "Content-Length": str(packed.seek(0, os.SEEK_END)),
        },
    )


def released(context: RequestContext) -> Response:
    """A released testset by class and slice; refused for one that is not released.

    The look is not recorded: developers have the examples and labels.
    """
    with context.site.reading() as project:
        chosen = choose_comparison(
            project,
            context.number("number"),
            commit=context.request.query_params.get("commit"),
            against=context.request.query_params.get("against"),
        )
    # After the block, because reading a large testset takes a while and other pages must not wait.
    shown = context.site.cache.get(
        ("released", *chosen.key, chosen.new.commit, chosen.old and chosen.old.commit),
        lambda: released_view(make_released_report(context.site.name, chosen)),
    )
    return context.page("released.html", shown=shown, models=chosen.models, percent=percent)


def _pack(folder: Path, target: IO[bytes]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while chunk := file.read(1 << 20):
            yield chunk


def _again(context: RequestContext, error: EaseciError, *sent: Path | None) -> Response:
    """The page with what is wrong, and the form as it was filled in.

    The visitor has to choose files again: browsers let no page do that.
    """
    return _page(context, [_refused(error, *sent)], status=refusal_status(error))


def _page(context: RequestContext, notes: Sequence[FlashMessage], *, status: int = 200) -> Response:
    with context.site.reading() as project:
        context.site.background.look(context.who, "testsets", None)
        cards = [
            TestsetCard(testset, disclosed_reason(project.state, testset))
            for testset in reversed(project.state.testsets.values())
        ]
        addable = project.state.active_testset is None
        top = project.repository.top
    needs, problem = _plan(top or Path()) if addable else (None, None)
    return context.page(
        "testsets.html",
        status=status,
        cards=cards,
        addable=addable,
        needs=needs,
        bring=None if needs is None else _bring(needs),
        problem=problem,
        notes=notes,
        typed=context.text,
    )


def _plan(folder: Path) -> tuple[Plan | None, EaseciError | None]:
    """The plan for the next testset, or what is wrong with the repository's script."""
    try:
        return make_plan(load_script(find_script(folder))), None
    except EaseciError as error:
        return None, error


def _bring(needs: Plan) -> Bring | None:
    """How many examples to bring; None if the plan names no number."""
    needed = needs.chosen.testset_size
    return None if needed is None else examples_to_bring(needed, needs.script.sample)


def _refused(error: EaseciError, *sent: Path | None) -> FlashMessage:
    """The error's message, with the names of files as they were sent, and the page's own words."""
    words = [error.message, *([] if error.hint is None else [error.hint])]
    for path in filter(None, sent):
        words = [line.replace(f"{path.parent}/", "") for line in words]
    for option, control in CONTROLS.items():
        words = [line.replace(option, f"“{control}”") for line in words]
    names = tuple(path.name for path in sent if path is not None)
    if not words[0].startswith(names):
        words[0] = words[0][:1].upper() + words[0][1:]
    return FlashMessage(words[0], tuple(words[1:]), bad=True)


def _added(added: Added) -> FlashMessage:
    more = [] if added.loss is None else [f"Smaller than planned: {added.loss}"]
    if added.sample:
        more.append(
            f"{added.sample:,} more were set aside as the public sample: developers may see them."
        )
    more += [
        f"Left out: {found.shared:,} examples that were in testset {found.testset}."
        for found in added.overlaps
    ]
    if added.classes_line is not None:
        more.append(f"The script declares no classes. This line would: `{added.classes_line}`")
    more += added.warnings
    return FlashMessage(
        f"Testset {added.testset} is sealed: {added.examples:,} examples, {added.labels:,} labels.",
        tuple(more),
    )


def _imported(imported: LabelsImported) -> FlashMessage:
    counts = (
        (imported.added, "added"),
        (imported.corrected, "corrected"),
        (imported.unchanged, "known before"),
        (imported.cannot_tell, "can't tell"),
        (imported.skipped, "skipped"),
        (imported.disputed, "disputed"),
    )
    words = ", ".join(f"{count:,} {name}" for count, name in counts if count) or "none"
    more = [*imported.problems, *imported.warnings]
    if imported.answered:
        more.append(f"Answered now: {len(imported.answered):,} of the commits that waited.")
    return FlashMessage(f"Labels: {words}.", tuple(more))
