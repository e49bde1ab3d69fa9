"""A released testset as a file: the report as HTML, or the examples that differ as CSV."""

from __future__ import annotations

from pathlib import Path

from easeci.errors import UsageError
from easeci.views.released.contents import ReleasedReport
from easeci.views.released.page import released_page
from easeci.views.report.writing import PRIVATE, replaced


def write_released(report: ReleasedReport, path: Path) -> None:
    """Write the file that the ending of its name asks for; one that is there is replaced."""
    suffix = path.suffix.lower()
    if suffix not in (".html", ".htm", ".csv"):
        raise UsageError(
            f"{path} is neither .html nor .csv",
            hint="The whole report is HTML, and the examples on which the models differ are CSV.",
        )
    if suffix == ".csv" and report.old is None:
        raise UsageError(
            "there is no other model to compare with",
            hint="Name one that was tested on the same testset: --against COMMIT.",
        )
    with replaced(path, PRIVATE) as file:
        if suffix == ".csv":
            report.tables.differing.write_csv(file)
        else:
            file.write(released_page(report).encode("utf-8", errors="replace"))
