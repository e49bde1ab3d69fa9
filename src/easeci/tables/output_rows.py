"""The rows of a file or table of outputs: raw ids, outputs as text, trials and scores.

A JSONL file is read line by line, because its outputs may be any JSON values, each row another
kind. Their texts go to polars in parts: as objects of Python, all of them would take much memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from easeci.errors import DataError
from easeci.script.scorer import MAIN_SCORE
from easeci.tables.column import as_text, plain, type_name
from easeci.tables.json_text import EXACT_DECODER, json_text
from easeci.tables.source import (
    BYTE_ORDER_MARK,
    ID,
    UNREADABLE,
    csv_problem,
    is_pandas_frame,
    json_ids,
    json_objects,
    read_guarded,
    require_single,
    require_utf8,
    series,
)

OUTPUT, PREDICTION, TRIAL = "output", "prediction", "trial"
SCORES = "scores"
"""The key of an object of scores by name, in JSONL."""
OUTPUT_COLUMNS = (ID, OUTPUT, PREDICTION, TRIAL)
"""The columns that are read of outputs without scores; either of two has the outputs."""
PART_CHARACTERS = 1 << 24


@dataclass(frozen=True)
class OutputRows:
    """What a file or table holds, row by row, before anything is checked.

    Trials and scores are numbers, texts of numbers or truth values. In a CSV file, an empty cell is
    an empty output, since that is how such files are written.
    """

    name: str
    ids: pl.Series
    outputs: pl.Series | None
    trials: pl.Series | None
    scores: Mapping[str, pl.Series] = field(default_factory=dict)
    positional: bool = False


def is_score_column(column: str) -> bool:
    """Whether a column has the main score or a named one: ``score`` or ``score.NAME``."""
    return column == MAIN_SCORE or column.startswith(f"{MAIN_SCORE}.")


def score_name(column: str) -> str:
    """The name of the score that such a column has."""
    return column if column == MAIN_SCORE else column.removeprefix(f"{MAIN_SCORE}.")


def read_output_rows(path: Path, *, with_scores: bool) -> OutputRows:
    """The rows of a CSV, JSONL or Parquet file. DataError if it cannot be read."""
    reader = _READERS.get(path.suffix.lower(), _read_csv)
    return read_guarded(path, "outputs", lambda: reader(path, with_scores))


def _read_csv(path: Path, with_scores: bool) -> OutputRows:
    with path.open("rb") as file:
        require_utf8(str(path), file.read(2))
    try:
        frame = pl.read_csv(path, infer_schema=False)
    except UNREADABLE as error:
        raise csv_problem(str(path), error) from None
    for column in (*OUTPUT_COLUMNS, *filter(is_score_column, frame.columns)):
        require_single(frame, str(path), column)
    texts = [pl.col(c).fill_null("") for c in (OUTPUT, PREDICTION) if c in frame.columns]
    return frame_rows(frame.with_columns(texts), str(path), with_scores=with_scores)


def _read_parquet(path: Path, with_scores: bool) -> OutputRows:
    try:
        known = pl.read_parquet_schema(path)
        wanted = [c for c in known if c in OUTPUT_COLUMNS or (with_scores and is_score_column(c))]
        others = [c for c in known if c not in wanted]
        frame = pl.read_parquet(path, columns=wanted)
    except UNREADABLE:
        raise DataError(f"{path} cannot be read as Parquet") from None
    return frame_rows(frame, str(path), others, with_scores=with_scores)


def frame_rows(
    frame: pl.DataFrame, name: str, others: Iterable[str] = (), *, with_scores: bool
) -> OutputRows:
    """The rows of a DataFrame; ``others`` are columns that the file has besides."""
    found = [c for c in frame.columns if is_score_column(c)] if with_scores else []
    column = output_column(name, [*frame.columns, *others], optional=bool(found))
    return OutputRows(
        name,
        frame[ID],
        None if column is None else _texts_of(name, frame[column]),
        frame[TRIAL] if TRIAL in frame.columns else None,
        {score_name(c): frame[c] for c in found},
    )


def output_column(name: str, columns: Iterable[str], *, optional: bool) -> str | None:
    """Which column has the outputs: ``output``, or ``prediction`` as programs may call it."""
    known = list(dict.fromkeys(columns))
    found = [column for column in (OUTPUT, PREDICTION) if column in known]
    if len(found) > 1:
        raise DataError(
            f"{name} has both '{OUTPUT}' and '{PREDICTION}'",
            hint="Leave one of them out: a model has one output for each row.",
        )
    missing = ID if ID not in known else OUTPUT if not found and not optional else None
    if missing is None:
        return found[0] if found else None
    if len(known) == 1 and (";" in known[0] or "\t" in known[0]):
        hint = "A CSV file separates its columns by commas."
    else:
        hint = f"It must have the columns {ID} and {OUTPUT}, and {TRIAL} for several outputs."
    shown = ", ".join(column[:40] for column in known[:8])
    raise DataError(f"{name} has no column '{missing}'; it has {shown}", hint=hint)


def _texts_of(name: str, values: pl.Series) -> pl.Series:
    """Outputs of a column as text: numbers as they are stored, lists and structs as JSON."""
    values = plain(values)
    if values.dtype == pl.String:
        return values
    if values.dtype == pl.Int64 or values.dtype.is_decimal():
        return values.cast(pl.String)
    if values.dtype == pl.Float64:
        if not values.is_finite().fill_null(True).all():
            raise DataError(
                f"{name}: outputs that are not finite numbers", hint="JSON has no NaN and Infinity."
            )
        return as_text(values)
    if values.dtype.is_nested() or values.dtype == pl.Object:
        return json_texts(name, values.to_list())
    raise DataError(
        f"{name}: outputs must be text, numbers or JSON values, not {type_name(values.dtype)}"
    )


# -- JSON lines


def _read_jsonl(path: Path, with_scores: bool) -> OutputRows:
    rows = _JsonRows(str(path), with_scores=with_scores)
    with path.open("rb") as file:
        start = file.read(len(BYTE_ORDER_MARK))
        require_utf8(str(path), start)
        file.seek(len(BYTE_ORDER_MARK) if start == BYTE_ORDER_MARK else 0)
        for number, row in json_objects(str(path), file, EXACT_DECODER):
            rows.append(number, row)
    return rows.done()


class _JsonRows:
    """JSON objects, taken apart one after the other."""

    def __init__(self, name: str, *, with_scores: bool) -> None:
        self.name, self.with_scores = name, with_scores
        self.ids: list[Any] = []
        self.first: list[str] = []
        """The keys of the first row, for messages."""
        self.keys: dict[str, None] = {}
        """The keys that any row has, as far as they matter here."""
        self.trials: list[str | None] = []
        self.scores: dict[str, list[str | None]] = {}
        self.outputs = _TextParts(name)

    def append(self, number: int, row: dict[str, Any]) -> None:
        """Add one object."""
        self.keys.update(dict.fromkeys(key for key in OUTPUT_COLUMNS if key in row))
        if OUTPUT in row and PREDICTION in row:
            output_column(self.name, row, optional=False)
        output = row.get(OUTPUT) if OUTPUT in row else row.get(PREDICTION)
        try:
            self.outputs.append(None if output is None else json_text(output))
            self.trials.append(_number_text(row.get(TRIAL)))
            if self.with_scores:
                for name, score in _scores_of(self.name, number, row):
                    known = self.scores.setdefault(name, [])
                    known.extend([None] * (len(self.ids) - len(known)))
                    known.append(_number_text(score))
        except RecursionError:
            raise DataError(f"{self.name}, line {number}, is nested too deeply") from None
        self.first = self.first or list(row)
        self.ids.append(row.get(ID))

    def done(self) -> OutputRows:
        """All rows."""
        if not self.ids:
            raise DataError(f"{self.name} is empty")
        size = len(self.ids)
        for known in self.scores.values():
            known.extend([None] * (size - len(known)))
        column = output_column(self.name, [*self.keys, *self.first], optional=bool(self.scores))
        outputs = self.outputs.done()
        return OutputRows(
            self.name,
            json_ids(self.name, self.ids),
            None if column is None else outputs,
            pl.Series(self.trials, dtype=pl.String) if TRIAL in self.keys else None,
            {name: pl.Series(v, dtype=pl.String) for name, v in self.scores.items()},
        )


def _scores_of(name: str, line: int, row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The scores of an object: ``score``, ``score.NAME``, and those in its object ``scores``."""
    found = [(score_name(key), row[key]) for key in row if is_score_column(key)]
    inside = row.get(SCORES)
    if inside is not None:
        if not isinstance(inside, dict):
            raise DataError(
                f"{name}, line {line}: '{SCORES}' is not an object",
                hint='Write scores by name, such as {"faithful": 0.5}.',
            )
        found += inside.items()
    names = [key for key, _ in found]
    twice = next((key for key in names if names.count(key) > 1), None)
    if twice is not None:
        raise DataError(f"{name}, line {line}, has the score '{twice[:40]}' twice")
    yield from found


def _number_text(value: Any) -> str | None:
    """A number or truth value as text. Everything else becomes a text that is not a number."""
    if value is None:
        return None
    text = json_text(value)
    return text if text.isascii() and len(text) <= 100 else "?"


class _TextParts:
    """Texts that go to polars in parts."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._done: list[pl.Series] = []
        self._texts: list[str | None] = []
        self._characters = self._rows = 0

    def append(self, text: str | None) -> None:
        """Add a text, or None where one is missing."""
        self._texts.append(text)
        self._characters += 0 if text is None else len(text)
        if self._characters > PART_CHARACTERS:
            self._finish_part()

    def _finish_part(self) -> None:
        try:
            self._done.append(pl.Series(self._texts, dtype=pl.String))
        except UnicodeError:
            bad = next(n for n, text in enumerate(self._texts) if not _is_unicode(text))
            raise DataError(
                f"{self._name}: the output of data row {self._rows + bad + 1:,} is not valid "
                "Unicode text",
                hint="It has one half of a surrogate pair, such as \\ud800.",
            ) from None
        self._rows += len(self._texts)
        self._texts, self._characters = [], 0

    def done(self) -> pl.Series:
        """All texts."""
        self._finish_part()
        return pl.concat(self._done)


def _is_unicode(text: str | None) -> bool:
    try:
        (text or "").encode()
    except UnicodeError:
        return False
    return True


# -- values in memory


def memory_rows(source: Any, name: str, *, with_scores: bool) -> OutputRows:
    """The rows of a DataFrame, a mapping of ids to outputs, a pandas Series or a list."""
    if isinstance(source, pl.DataFrame):
        return frame_rows(source, name, with_scores=with_scores)
    if is_pandas_frame(source):
        return _pandas_rows(source, name, with_scores=with_scores)
    if isinstance(source, Mapping):
        ids = series(list(source.keys()), name)
        return OutputRows(name, ids, json_texts(name, source.values()), None)
    values = source if isinstance(source, pl.Series) else _column_of(source, name)
    texts = _texts_of(name, values) if isinstance(values, pl.Series) else json_texts(name, values)
    if hasattr(source, "index") and hasattr(source, "isna"):
        return OutputRows(name, series(list(source.index), name), texts, None)
    return OutputRows(name, pl.int_range(len(texts), eager=True), texts, None, positional=True)


def _pandas_rows(source: Any, name: str, *, with_scores: bool) -> OutputRows:
    columns = [str(column) for column in source.columns]
    wanted = [c for c in columns if c in OUTPUT_COLUMNS or (with_scores and is_score_column(c))]
    frame = {}
    for column in wanted:
        values = _column_of(source[column], name)
        one_type = isinstance(values, pl.Series)
        frame[column] = values if one_type else json_texts(name, values)
    others = [column for column in columns if column not in wanted]
    return frame_rows(pl.DataFrame(frame), name, others, with_scores=with_scores)


def _column_of(values: Any, name: str) -> pl.Series | list[Any]:
    """Values as a Series if all are of one type, otherwise as a list; NaN of pandas is missing."""
    try:
        return series(values, name)
    except DataError:
        if getattr(values, "ndim", 1) != 1:
            raise
    if hasattr(values, "isna"):
        return [None if gone else v for v, gone in zip(values, values.isna(), strict=True)]
    return list(values)


def json_texts(name: str, values: Iterable[Any]) -> pl.Series:
    """JSON values as texts, and null where one is None."""
    parts = _TextParts(name)
    for row, value in enumerate(values, start=1):
        try:
            parts.append(None if value is None else json_text(value))
        except (TypeError, ValueError, RecursionError):
            raise DataError(
                f"{name}: the output of data row {row:,} cannot be written as JSON",
                hint="Use text, numbers, lists and dictionaries; JSON has no NaN and Infinity.",
            ) from None
    return parts.done()


_READERS: dict[str, Callable[[Path, bool], OutputRows]] = {
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".parquet": _read_parquet,
}
