"""The process that reads predictions which nobody trusts. It is started by ``untrusted.py``.

It limits itself first, then reads its orders and the ids of the testset from its standard input,
and writes one line of JSON to its standard output, followed by the values if there are any.
"""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO

import polars as pl

from easeci.errors import DataError
from easeci.tables.align import aligned_outputs, aligned_predictions
from easeci.tables.column import Column, ColumnRole, as_text
from easeci.tables.output_rows import OUTPUT, OUTPUT_COLUMNS, TRIAL
from easeci.tables.outputs import Outputs, load_outputs
from easeci.tables.packed import pack_classes, pack_ranks
from easeci.tables.parquet_footer import load_footer
from easeci.tables.ranks import RANK_COLUMNS
from easeci.tables.reading_limits import ReadingLimits, size_in_mib
from easeci.tables.source import ID, load_column

READY = b"ready\n"
"""What it says before it opens the file: whatever happens afterwards is the file's fault."""
NO_MEMORY = 75
"""The exit code if there was not enough memory."""
SET_PDEATHSIG = 1
LONGEST_FOOTER = 8 << 20
MOST_DESCRIPTORS = 64
ONLY_NEEDED = f"Write only the columns {ID} and {ColumnRole.NEW.column}, and probabilities for auc."
ONLY_OUTPUTS = f"Write only the columns {ID}, {OUTPUT} and {TRIAL}."


@dataclass(frozen=True)
class ReadingRules:
    """``ranked``: ranks are wanted too. ``name_missing``: errors may name ids that are missing."""

    ranked: bool = False
    name_missing: bool = True


def write_orders(
    path: Path, ids: pl.Series, limits: ReadingLimits, orders: IO[bytes], rules: ReadingRules
) -> None:
    """Write what the process reads from its standard input: it trusts that."""
    line = {
        "path": str(path),
        "limits": asdict(limits),
        "parent": os.getpid(),
        "rules": asdict(rules),
    }
    orders.write(json.dumps(line).encode() + b"\n")
    ids.alias(ID).to_frame().write_ipc(orders)


def limits_for(ids: pl.Series, trials: int | None = None) -> ReadingLimits:
    """What may be read for a testset with these ids; with ``trials``, so many outputs for each."""
    return ReadingLimits(len(ids), int(ids.cast(pl.String).str.len_bytes().sum()), trials)


def main() -> None:
    """Read predictions, as ordered, and say what they are or what is wrong with them."""
    orders = json.loads(sys.stdin.buffer.readline())
    limits = ReadingLimits(**orders["limits"])
    limit_this_process(limits)
    end_with(orders["parent"])
    ids = pl.read_ipc(io.BytesIO(sys.stdin.buffer.read()))[ID]
    output = sys.stdout.buffer
    output.write(READY)
    output.flush()
    try:
        _answer(Path(orders["path"]), ids, limits, output, ReadingRules(**orders["rules"]))
        output.flush()
    except MemoryError:
        os._exit(NO_MEMORY)
    os._exit(0)  # at once: there is nothing to tidy up


def limit_this_process(limits: ReadingLimits) -> None:
    """Let the kernel hold this process to its limits."""
    import resource  # only Unix has it

    limited = {
        resource.RLIMIT_DATA: limits.memory_bytes,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_FSIZE: limits.answer_bytes,
        resource.RLIMIT_NOFILE: MOST_DESCRIPTORS,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in limited.items():
        _, allowed = resource.getrlimit(kind)
        unlimited = allowed == resource.RLIM_INFINITY
        # One more second of time: at the upper limit the kernel kills and does not say why.
        upper = most + (kind == resource.RLIMIT_CPU)
        upper = upper if unlimited else min(upper, allowed)
        resource.setrlimit(kind, (min(most, upper), upper))


def end_with(parent: int) -> None:
    """Let the kernel end this process when its parent ends, even if that is killed."""
    import ctypes

    ctypes.CDLL(None).prctl(SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before it could count
        os._exit(0)


def _answer(
    path: Path, ids: pl.Series, limits: ReadingLimits, output: IO[bytes], rules: ReadingRules
) -> None:
    try:
        read = read_predictions(path, ids, limits, rules)
    except DataError as problem:
        line = {"message": problem.message, "hint": problem.hint}
        output.write(json.dumps(line).encode() + b"\n")
        return
    classes, packed = pack_classes(read.values)
    kind = None if read.ranks is None else str(read.ranks.kind)
    output.write(json.dumps({"classes": classes, "ranks": kind}).encode() + b"\n")
    if read.ranks is not None:
        output.write(pack_ranks(read.ranks.values))
    output.write(packed)


def read_predictions(
    path: Path, ids: pl.Series, limits: ReadingLimits, rules: ReadingRules | None = None
) -> Column:
    """The predictions of a file as text, in the order of the ids, which they must cover exactly.

    If the limits are for outputs, all trials of an example follow one another. Errors name the file
    without its folder, which may be a temporary one.
    """
    try:
        return _read(path, ids, limits, rules or ReadingRules())
    except DataError as problem:
        message = problem.message.replace(f"{path.parent}/", "")
        raise DataError(message, hint=problem.hint) from None


def _read(path: Path, ids: pl.Series, limits: ReadingLimits, rules: ReadingRules) -> Column:
    require_size(path, limits)
    if path.suffix.lower() == ".parquet":
        _require_footer(path, limits, RANK_COLUMNS if rules.ranked else ())
    testset, named = Column("the testset", ColumnRole.NEW, ids, ids), rules.name_missing
    if limits.trials is None:
        received = load_column(path, ColumnRole.NEW, ranked=rules.ranked)
        aligned = aligned_predictions(testset, received, name_missing=named)
        read = replace(aligned, values=as_text(aligned.values))
    else:
        outputs = _outputs(path, limits.trials)
        values = aligned_outputs(testset, outputs, name_missing=named)
        read = Column(outputs.name, ColumnRole.NEW, ids, values)
    total = int(read.values.str.len_bytes().sum())
    if total > limits.file_bytes:
        raise DataError(
            f"{path}: its {_what(limits)} have {size_in_mib(total)} of text{_most(limits)}"
        )
    return read


def _outputs(path: Path, trials: int) -> Outputs:
    """The outputs of a table or of a log. The scores of a log are claims, and are left out."""
    from easeci.tables.logs import is_log, load_log

    if not path.is_file() or not is_log(path):
        return load_outputs(path, ColumnRole.NEW, trials=trials)
    try:
        log = load_log(path, scored=False)
    except DataError as problem:
        hint = "A log that is sent holds one model: one provider, one prompt, and one filter."
        raise DataError(problem.message, hint=hint) from None
    rows = log.rows.select("id", "trial", "output")
    return load_outputs(rows, ColumnRole.NEW, trials=trials, name=str(path))


def require_size(path: Path, limits: ReadingLimits) -> None:
    """Refuse a pipe, and a file that is too large. :func:`load_column` refuses everything else."""
    try:
        about = path.stat()
    except OSError:
        return
    if not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode):
        raise DataError(f"{path} is not a regular file")
    if about.st_size > limits.file_bytes:
        raise DataError(
            f"{path} has {size_in_mib(about.st_size)}{_most(limits)}", hint=_only(limits)
        )


def _require_footer(path: Path, limits: ReadingLimits, more: Sequence[str]) -> None:
    """Refuse a Parquet file that says itself that it is too large."""
    try:
        wanted = (ID, ColumnRole.NEW.column) if limits.trials is None else OUTPUT_COLUMNS
        footer = load_footer(path, (*wanted, *more), LONGEST_FOOTER)
    except OSError:
        return
    if footer is None:
        return
    if footer.rows > limits.rows:
        raise DataError(
            f"{path} has {footer.rows:,} rows for {_size(limits)}",
            hint=f"{_what(limits).capitalize()} must cover the testset exactly.",
        )
    if footer.unpacked_bytes > limits.file_bytes:
        unpacked = size_in_mib(footer.unpacked_bytes)
        raise DataError(f"{path} has {unpacked} when it is unpacked{_most(limits)}")


def _most(limits: ReadingLimits) -> str:
    return f", and for {_size(limits)} it may have {size_in_mib(limits.file_bytes)}"


def _size(limits: ReadingLimits) -> str:
    several = limits.trials is not None and limits.trials > 1
    return f"{limits.examples:,} examples" + (f" with {limits.trials} trials" if several else "")


def _what(limits: ReadingLimits) -> str:
    return "predictions" if limits.trials is None else "outputs"


def _only(limits: ReadingLimits) -> str:
    return ONLY_NEEDED if limits.trials is None else ONLY_OUTPUTS
