"""Guess which tool wrote a log by its ending and its first bytes, and load it."""

from __future__ import annotations

import re
from pathlib import Path

from easeci.errors import DataError
from easeci.tables.logs.eval_log import NO_CHOICE, EvalLog, LogChoice, LogFormat
from easeci.tables.logs.zip_entries import MOST_UNPACKED, needs_extra
from easeci.tables.reading_limits import size_in_mib
from easeci.tables.source import BYTE_ORDER_MARK, read_guarded

ENDINGS = (".eval", ".json", ".jsonl", ".ndjson")
HEAD_BYTES = 1 << 20
_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*+)"(\s*+:)?|[{}\[\]]', re.DOTALL)
_RESULT_KEYS = frozenset(
    {b"gradingResult", b"latencyMs", b"namedScores", b"promptIdx", b"testCase", b"testIdx"}
)


def is_log(path: Path) -> bool:
    """Whether a file is a log of one of the tools, and not a table of predictions."""
    try:
        return path.is_file() and guess_format(path) is not None
    except OSError:
        return False


def load_log(path: Path, choice: LogChoice = NO_CHOICE, *, scored: bool = True) -> EvalLog:
    """The outputs and scores of a log. DataError if something is wrong with it.

    With ``scored``, one metric must be the score: the only one, or the one that ``choice`` names.
    Otherwise a log without scores is fine.
    """
    try:
        return read_guarded(
            path, "evaluation results", lambda: _load(path, choice, scored=scored), ENDINGS
        )
    except RecursionError:
        raise DataError(f"{path} has values that are nested too deeply") from None


def _load(path: Path, choice: LogChoice, *, scored: bool) -> EvalLog:
    kind = guess_format(path)
    if kind is None:
        raise DataError(
            f"{path} is not a log that easeci knows",
            hint=f"It knows logs of {', '.join(LogFormat)}.",
        )
    size = path.stat().st_size
    if size > MOST_UNPACKED:
        raise DataError(f"{path} has {size_in_mib(size)}, more than {size_in_mib(MOST_UNPACKED)}")
    _require_usable_options(path, kind, choice)
    try:
        import msgspec  # noqa: F401 - the readers import it too, but their error would say less
    except ImportError:
        raise needs_extra() from None
    if kind is LogFormat.INSPECT:
        from easeci.tables.logs.inspect_log import load_inspect as load
    elif kind is LogFormat.LM_EVAL:
        from easeci.tables.logs.lm_eval import load_lm_eval as load
    else:
        from easeci.tables.logs.promptfoo import load_promptfoo as load
    return load(path, choice, scored=scored)


def _require_usable_options(path: Path, kind: LogFormat, choice: LogChoice) -> None:
    """Refuse choices that logs of this tool do not offer."""
    for chosen, option, owner in (
        (choice.provider, "a provider", LogFormat.PROMPTFOO),
        (choice.id_vars, "vars as its id", LogFormat.PROMPTFOO),
        (choice.filter, "a filter", LogFormat.LM_EVAL),
    ):
        if chosen and kind is not owner:
            raise DataError(
                f"{path} is a log of {kind}, which does not have {option}",
                hint=f"Only logs of {owner} have that.",
            )


def guess_format(path: Path) -> LogFormat | None:
    """The tool that wrote a file; None if it is none of them."""
    ending = path.suffix.lower()
    if ending == ".eval":
        return LogFormat.INSPECT
    if ending not in ENDINGS:
        return None
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES).removeprefix(BYTE_ORDER_MARK).lstrip()
    if ending == ".json":
        return _guess_json(top_keys(head))
    # The first versions of lm-evaluation-harness wrote one list into a .jsonl file.
    line = head[1:].lstrip() if head[:1] == b"[" else head.split(b"\n", 1)[0]
    return _guess_line(top_keys(line))


def _guess_json(keys: set[bytes]) -> LogFormat | None:
    if b"eval" in keys and keys & {b"version", b"status", b"plan", b"samples"}:
        return LogFormat.INSPECT
    if b"results" in keys:
        return LogFormat.PROMPTFOO
    return None


def _guess_line(keys: set[bytes]) -> LogFormat | None:
    if b"prediction" in keys or b"label" in keys:
        return None
    if b"doc_id" in keys and keys & {b"doc", b"filtered_resps"}:
        return LogFormat.LM_EVAL
    if len(keys & _RESULT_KEYS) >= 3:
        return LogFormat.PROMPTFOO
    return None


def top_keys(head: bytes) -> set[bytes]:
    """The keys of the object that a text starts with, as far as the text goes."""
    keys: set[bytes] = set()
    depth = 0
    for token in _TOKEN.finditer(head):
        bracket = token[0]
        if bracket in (b"{", b"["):
            depth += 1
        elif bracket in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                break
        elif depth == 1 and token[2]:
            keys.add(token[1])
    return keys if head[:1] == b"{" else set()
