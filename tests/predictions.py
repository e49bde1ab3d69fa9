"""Predictions written directly, for tests of what follows a build and not of the build itself.

A model that is only a cut (see tests/repositories.py) is evaluated in this process. Every other
program, such as one that fails, runs in the real sandbox.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from easeci.build.fetch import FetchedCommit
from easeci.build.program import (
    LOG_NAME,
    NAMES,
    ArchiveSource,
    BuildSource,
    BuiltPredictions,
    Program,
    TreeSource,
    make_predictions,
)
from easeci.service.commits import build
from easeci.tables.reading_process import ReadingRules, limits_for, read_predictions
from easeci.tables.untrusted import load_untrusted_predictions
from easeci.vault import predictions
from tests.repositories import MODEL, PROGRAM, SCRIPT

READ = "load_untrusted_predictions"
CUT = re.compile(re.escape(PROGRAM + MODEL).replace(re.escape("{cut}"), r"(-?[0-9.]+)"))
"""Both files of a model that is only a cut, one after the other."""


@contextmanager
def written_directly() -> Iterator[None]:
    """Evaluate models that are a cut in this process, while this lasts."""
    with mock.patch.object(build, "make_predictions", _make_predictions), read_directly():
        yield


@contextmanager
def built_for_real() -> Iterator[None]:
    """The sandbox again, within :func:`written_directly`."""
    with (
        mock.patch.object(build, "make_predictions", make_predictions),
        mock.patch.object(predictions, READ, load_untrusted_predictions),
    ):
        yield


@contextmanager
def read_directly() -> Iterator[None]:
    """Read predictions in this process, while this lasts: starting another one takes time."""
    with mock.patch.object(
        predictions,
        READ,
        lambda path, ids, trials, **rules: read_predictions(
            path, ids, limits_for(ids, trials), ReadingRules(**rules)
        ),
    ):
        yield


def _make_predictions(
    source: BuildSource,
    program: Program,
    examples: Path,
    into: Path,
    *more: Any,
    **options: Any,
) -> BuiltPredictions:
    cut = _cut(source) if program.command == SCRIPT["script"] else None
    table = examples / "examples.jsonl"
    if cut is None or not table.exists():
        return make_predictions(source, program, examples, into, *more, **options)
    rows = [json.loads(line) for line in table.read_text("utf-8").splitlines()]
    lines = [f"{row['id']},{'low' if float(row['x']) < cut else 'high'}" for row in rows]
    table, log = into / NAMES[0], into / LOG_NAME
    table.write_text("\n".join(["id,prediction", *lines, ""]), encoding="utf-8")
    log.touch()
    return BuiltPredictions(table, log, 0.0)


def _cut(source: BuildSource) -> float | None:
    """Where the model of a commit cuts; None if it is not only that."""
    names = ("test_model.py", "model.py")
    match source:
        case ArchiveSource():
            with tarfile.open(source.path) as archive:
                found = [archive.extractfile(n) for n in names if n in archive.getnames()]
                text = "".join(file.read().decode() for file in found if file is not None)
        case TreeSource():
            paths = [source.folder / name for name in names]
            text = "".join(path.read_text("utf-8") for path in paths if path.is_file())
        case FetchedCommit():
            text = "".join((source.read(name).file or b"").decode() for name in names)
    cut = CUT.fullmatch(text)
    return None if cut is None else float(cut[1])
