"""The sentences beside the tables of a released testset: on a terminal, on a page, in a file."""

from __future__ import annotations

from easeci.views.released.contents import ReleasedReport, ReleasedTables

NO_PROMISE = (
    "The promise is about the condition alone: it covers none of the numbers here. Developers "
    "have these examples and labels, so nothing here is secret, and no look at it is recorded."
)


def how_to_read(tables: ReleasedTables) -> tuple[str, ...]:
    """What the tables describe, and what they do not."""
    return (*_labels(tables), *_left_out(tables), NO_PROMISE)


def _labels(tables: ReleasedTables) -> tuple[str, ...]:
    whole = tables.whole
    if whole.labelled == 0:
        return ("No example has a label: only the predictions can be compared.",)
    if whole.labelled == whole.examples:
        return (
            f"All {whole.examples:,} examples are labelled: the tables describe the whole testset.",
        )
    first = (
        f"{whole.labelled:,} of {whole.examples:,} examples are labelled. Labels are asked for "
        "where commits need them, so the labelled examples are not a random sample. Accuracy, "
        "precision, recall and F1 describe the labelled examples and not the distribution."
    )
    if tables.differ is None or whole.difference is None:
        return (first,)
    among = tables.differ.labelled / whole.labelled
    return (
        first,
        "Examples on which models differ are usually over-represented: these two models differ on "
        f"{percent(among)} of the labelled examples, and on {percent(whole.difference)} of all. "
        "The difference d needs no labels, so it is a share of all examples.",
    )


def _left_out(tables: ReleasedTables) -> tuple[str, ...]:
    kinds = ((tables.cannot_tell, "can't tell"), (tables.unsettled, "skipped or disputed"))
    words = ", ".join(f"{count:,} {kind}" for count, kind in kinds if count)
    if not words:
        return ()
    more = " Verdicts count can't tell as wrong for every model." if tables.cannot_tell else ""
    return (f"The tables leave out the answers that name no class: {words}.{more}",)


def differing_words(report: ReleasedReport) -> str:
    """On how many examples the models differ, and who is right there."""
    differ = report.tables.differ
    if differ is None:
        return "There is no other model to compare with."
    if not differ.examples:
        return "The models predict the same on every example."
    return (
        f"Examples on which the models differ: {differ.examples:,}, of which {differ.labelled:,} "
        f"are labelled. There the new model is right on {differ.new_right:,}, the old one on "
        f"{differ.old_right:,}, and neither on {differ.neither:,}."
    )


def percent(value: float | None) -> str:
    """A share in percent; a dash for None."""
    return "–" if value is None else f"{100 * value:.1f}%"
