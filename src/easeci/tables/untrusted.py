"""Predictions that nobody trusts, read by a process of its own with limits on what it may take.

A file of a few MB can unpack to more than any memory holds, and a reader of such formats may have
errors of its own. So this process never parses the file: it starts ``reading_process.py`` and takes
over as many texts as there are examples, in a form that needs no parsing (``packed.py``).
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

import polars as pl

from easeci.errors import DataError, InfrastructureError
from easeci.tables.column import Column, ColumnRole, ModelRanks, RankKind
from easeci.tables.packed import unpack_classes, unpack_ranks
from easeci.tables.reading_limits import ReadingLimits, size_in_mib
from easeci.tables.reading_process import (
    NO_MEMORY,
    READY,
    ReadingRules,
    limits_for,
    write_orders,
)

LONGEST_LINE = 1 << 16
_PROGRAM = (
    "import sys; from importlib import import_module; module = sys.argv[1]; "
    "sys.path[:] = sys.argv[2:]; import_module(module).main()"
)
READER = "easeci.tables.reading_process"
_OUT_OF_MEMORY = (NO_MEMORY, -signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS)
"""How the process ends if memory is refused to it: Rust aborts, and a full stack is a fault."""
_KILLED = (-signal.SIGKILL, -signal.SIGTERM)
"""How it ends if somebody else wants it to, such as a system that is short of memory."""


def load_untrusted_predictions(
    path: Path,
    ids: pl.Series,
    *,
    ranked: bool = False,
    trials: int | None = None,
    name_missing: bool = True,
) -> Column:
    """The predictions of a file as text, in the order of ``ids``, which they must cover exactly.

    With ``ranked``, their ranks too. With ``trials``, they are outputs, so many for each id: value
    i * trials + t is trial t of id i. DataError if something is wrong with them, or if reading
    them exceeds a limit. Without ``name_missing``, it names no id that the file lacks.
    """
    limits = limits_for(ids, trials)
    with tempfile.TemporaryFile() as orders, tempfile.TemporaryFile() as answer:
        write_orders(path, ids, limits, orders, ReadingRules(ranked, name_missing))
        orders.seek(0)
        run_reader(READER, path, orders, answer, limits)
        return _taken_over(path, answer, ids, limits, ranked=ranked)


def run_reader(
    module: str, path: Path, orders: IO[bytes], answer: IO[bytes], limits: ReadingLimits
) -> None:
    """Run the ``main`` of a module as the process that reads a file.

    ``answer`` is then what it wrote, and not too large. DataError if it exceeded a limit.
    """
    code = _run(module, orders, answer, limits.elapsed_seconds)
    answer.seek(0)
    if answer.readline(len(READY)) != READY or code in _KILLED:
        raise InfrastructureError(
            f"the process that reads {path.stem} did not start, or was killed",
            hint="Is the machine short of memory, and can this Python load polars?",
        )
    if code != 0:
        raise _ended(path, code, limits)
    if os.fstat(answer.fileno()).st_size > limits.answer_bytes:
        raise unreadable(path)


def _run(module: str, orders: IO[bytes], answer: IO[bytes], seconds: float) -> int | None:
    """Run the reading process, and return its exit code; None if it took too long."""
    # The paths of this process, and not those of the environment. An empty one means "here".
    paths = [str(Path(entry).absolute()) for entry in sys.path if entry]
    with subprocess.Popen(  # noqa: S603 - no shell
        [sys.executable, "-I", "-c", _PROGRAM, module, *paths],
        stdin=orders,
        stdout=answer,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=_environment(),
        start_new_session=True,
    ) as process:
        try:
            return process.wait() if _ends_within(process.pid, seconds) else None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)


def _ends_within(pid: int, seconds: float) -> bool:
    """Whether a process ends in time. Unlike Popen.wait, it does not sleep between two looks."""
    descriptor = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(descriptor)


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    # One thread: each takes memory of its own, and a few million rows need no more.
    return {"LC_ALL": "C.UTF-8", "POLARS_MAX_THREADS": "1", **kept}


def _ended(path: Path, code: int | None, limits: ReadingLimits) -> DataError:
    """The error for a process that did not come to its end."""
    what = "predictions" if limits.trials is None else "outputs"
    enough = f"That is enough for {limits.values:,} honest {what}."
    if code in _OUT_OF_MEMORY:
        memory = size_in_mib(limits.memory_bytes)
        return DataError(f"{path.name} takes more than {memory} of memory to read", hint=enough)
    if code in (None, -signal.SIGXCPU):
        seconds = limits.elapsed_seconds if code is None else limits.cpu_seconds
        return DataError(f"{path.name} takes more than {seconds} s to read", hint=enough)
    return unreadable(path)


def unreadable(path: Path) -> DataError:
    """The error for a file that is not what its name says."""
    return DataError(f"{path.name} cannot be read as {path.stem}")


def read_line(answer: IO[bytes]) -> Any:
    """The first line of an answer, which is JSON. DataError for the problem that it tells."""
    line: Any = json.loads(answer.readline(LONGEST_LINE))
    if "message" in line:
        hint = None if line["hint"] is None else str(line["hint"])
        raise DataError(str(line["message"]), hint=hint)
    return line


def _taken_over(
    path: Path, answer: IO[bytes], ids: pl.Series, limits: ReadingLimits, *, ranked: bool
) -> Column:
    """The values of an answer, or the problem that it tells. Nothing of it is believed unseen."""
    count = limits.values
    try:
        line = read_line(answer)
        classes = line["classes"]
        if not isinstance(classes, int) or not 0 <= classes <= count:
            raise unreadable(path)
        ranks = None
        if ranked:
            kind = RankKind(line["ranks"])
            ranks = ModelRanks(kind, unpack_ranks(answer.read(8 * count), count).alias(kind))
        values = unpack_classes(answer.read(), count, classes)
        return Column(path.name, ColumnRole.NEW, ids, values, ranks=ranks)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise unreadable(path) from None
