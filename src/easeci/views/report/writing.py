"""The report as a file, which is written completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from easeci.charts import has_charts
from easeci.errors import UsageError
from easeci.files import replacing
from easeci.service.looks import record_look
from easeci.service.project import Project
from easeci.views.report.contents import make_report
from easeci.views.report.page import page

PUBLIC, PRIVATE = 0o644, 0o600


@dataclass(frozen=True)
class Written:
    """Where the report is, and how much is in it.

    ``lacks_charts`` says whether charts were left out, because their extra is not installed.
    """

    file: Path
    owner: bool
    testsets: int
    commits: int
    lacks_charts: bool


def write_report(
    project: Project,
    path: Path,
    *,
    owner: bool = False,
    by: str = "",
    waiting: Callable[[], None] | None = None,
) -> Written:
    """Write the report; one that is there is replaced.

    Whether the file can be written is checked before a look is recorded. ``waiting`` is called
    once if another command acts on the project now.
    """
    with replaced(path, PRIVATE if owner else PUBLIC) as file:
        if owner:
            record_look(project, "report", waiting, by=by)
        found = make_report(project, owner=owner)
        file.write(page(found).encode("utf-8", errors="replace"))
    return Written(
        file=path.absolute(),
        owner=owner,
        testsets=len(found.testsets),
        commits=sum(len(testset.rows) for testset in found.testsets),
        lacks_charts=owner and not has_charts(),
    )


@contextmanager
def replaced(path: Path, mode: int) -> Iterator[IO[bytes]]:
    """A new file that replaces ``path`` at the end; an error at once if it cannot."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise UsageError(f"{path} cannot be written: it is not a file", hint="Name one with -o.")
    try:
        with replacing(target, mode) as file:
            yield file
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
