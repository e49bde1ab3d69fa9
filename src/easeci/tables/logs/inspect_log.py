"""Logs of Inspect: ``.eval`` (a zip file with one entry for each sample) and ``.json``.

An ``.eval`` file holds a sample in one entry ``samples/ID_epoch_N.json``, or in the chunked layout
under ``samples/ID_epoch_N/``, where ``sample.json`` has all fields that are needed here and long
texts lie in ``attachments/``. The epoch is the trial.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from easeci.errors import DataError
from easeci.tables.logs.eval_log import (
    EvalLog,
    LogChoice,
    LogFormat,
    LogRows,
    LogSource,
    checked_log,
)
from easeci.tables.logs.json_text import decode, digest, text
from easeci.tables.logs.metric_values import MetricRules
from easeci.tables.logs.zip_entries import ZipEntries, opened_zip

RULES = MetricRules(
    words={
        "C": 1.0,
        "P": 0.5,
        "I": 0.0,
        "N": 0.0,
        "yes": 1.0,
        "true": 1.0,
        "no": 0.0,
        "false": 0.0,
    },
    missing_is_zero=True,
)
"""Inspect's letters (correct, partial, incorrect, no answer) and the words that it takes too."""
OLD_SCORER = "score"
"""The name of the only score of a sample in old logs, which name no scorer."""
_ATTACHMENT = re.compile(r"\A(?:attachment|tc)://(.+)\Z", re.DOTALL)
_WHOLE_SAMPLE = re.compile(r"\Asamples/.+_epoch_[0-9]+\.json\Z", re.DOTALL)
_ATTACHMENT_CHUNK = re.compile(r"\A(samples/.+/)attachments/([0-9]{1,15})\.json\Z", re.DOTALL)
_CHUNKED_SAMPLE = re.compile(r"\A(samples/.+_epoch_[0-9]+/)sample\.json\Z", re.DOTALL)


_ABSENT = msgspec.Raw(b"null")


class _Nothing(msgspec.Struct):
    """An object of which only the presence matters."""


class _Message(msgspec.Struct):
    role: str | None = None
    content: Any = None


class _OutputChoice(msgspec.Struct):
    message: _Message | None = None


class _Output(msgspec.Struct):
    completion: str | None = None
    choices: list[_OutputChoice] | None = None


class _Score(msgspec.Struct):
    value: Any = None


class _Sample(msgspec.Struct):
    id: int | float | str | None = None
    epoch: int = 1
    input: Any = None
    output: _Output | None = None
    messages: msgspec.Raw = _ABSENT
    scores: dict[str, _Score] | None = None
    score: _Score | None = None
    error: _Nothing | str | None = None
    invalidation: _Nothing | None = None
    attachments: msgspec.Raw = _ABSENT


class _Task(msgspec.Struct):
    task: str | None = None
    model: str | None = None


class _Header(msgspec.Struct):
    eval: _Task
    status: str = "started"


class _Log(_Header):
    samples: list[_Sample] | None = None


_HEADER = msgspec.json.Decoder(_Header)
_LOG = msgspec.json.Decoder(_Log)
_SAMPLE = msgspec.json.Decoder(_Sample)
_MESSAGES = msgspec.json.Decoder(list[_Message] | None)
_ATTACHMENTS = msgspec.json.Decoder(dict[str, str] | None)
_CHUNK = msgspec.json.Decoder(list[str])
Attachments = Callable[[], Mapping[str, str]]
"""Loads the long texts of a sample by their keys. Few samples refer to one."""


@dataclass(frozen=True)
class _LoggedSample:
    sample: _Sample
    attachments: Attachments


def load_inspect(path: Path, choice: LogChoice, *, scored: bool) -> EvalLog:
    """The outputs and scores of an Inspect log."""
    with path.open("rb") as file:
        zipped = file.read(2) == b"PK"
    if zipped:
        with opened_zip(path) as entries:
            return _checked(
                path, _zip_header(path, entries), _zip_samples(path, entries), choice, scored
            )
    if path.suffix.lower() == ".eval":
        raise DataError(f"{path} is not a zip file", hint="Is it a complete log of Inspect?")
    log = decode(path.read_bytes(), _LOG, str(path))
    return _checked(path, log, _json_samples(path, log), choice, scored)


def _checked(
    path: Path, header: _Header, logged: Iterator[_LoggedSample], choice: LogChoice, scored: bool
) -> EvalLog:
    source = LogSource(
        LogFormat.INSPECT,
        path,
        header.eval.task,
        header.eval.model,
        RULES,
        f"Score it first: inspect score {path.name}",
    )
    samples = _Samples.of(path, logged)
    return checked_log(source, samples.rows, choice, _notes(header, samples), scored=scored)


@dataclass(frozen=True)
class _Samples:
    rows: LogRows
    failed: int
    invalidated: int

    @classmethod
    def of(cls, path: Path, logged: Iterator[_LoggedSample]) -> _Samples:
        """The samples as rows. Inspect's samples can be large, so each is dropped at once."""
        rows = LogRows([], [], [], [], [])
        several: set[str] = set()
        failed = invalidated = 0
        for item in logged:
            sample = item.sample
            if sample.id is None:
                raise DataError(f"{path}: a sample without an id")
            scores = _scores(sample, several)
            failed += sample.error is not None and not scores
            invalidated += sample.invalidation is not None
            usable = sample.invalidation is None and (sample.error is None or scores)
            rows.ids.append(text(sample.id))
            rows.trials.append(sample.epoch)
            rows.outputs.append(_output(path, item))
            rows.inputs.append(_input_digest(item))
            rows.scores.append(scores if usable else None)
        if several:
            rows.scores[:] = [_without_stray_values(scores, several) for scores in rows.scores]
        return cls(rows, failed, invalidated)


def _notes(header: _Header, samples: _Samples) -> list[str]:
    notes = []
    if header.status != "success":
        notes.append(
            f"The evaluation did not end well (status '{header.status[:20]}'), so samples may be "
            "missing."
        )
    if samples.failed:
        notes.append(
            f"Samples that ended with an error and have no score: {samples.failed:,}. That says "
            "nothing about the model, so they stay unsettled."
        )
    if samples.invalidated:
        notes.append(
            f"Samples that were marked as invalid: {samples.invalidated:,}. They stay unsettled."
        )
    return notes


def _scores(sample: _Sample, several: set[str]) -> dict[str, Any]:
    """The values by metric. A scorer that gives named values joins ``several``."""
    logged = sample.scores or ({} if sample.score is None else {OLD_SCORER: sample.score})
    values: dict[str, Any] = {}
    for scorer, score in logged.items():
        if isinstance(score.value, dict):
            several.add(scorer)
            values.update({f"{scorer}.{key}": value for key, value in score.value.items()})
        else:
            values[scorer] = score.value
    return values


def _without_stray_values(scores: dict[str, Any] | None, several: set[str]) -> Any:
    """Drop a single NaN of a scorer that gives named values: it could not score that output."""
    if scores is None or several.isdisjoint(scores):
        return scores
    return {k: v for k, v in scores.items() if not (k in several and _is_nan(v))}


def _is_nan(value: Any) -> bool:
    return value is None or value == "NaN"


def _output(path: Path, item: _LoggedSample) -> str:
    """The completion. Other writers leave it out: then it is the text of the last message."""
    output = item.sample.output
    if output is not None and output.completion:
        return _resolved(output.completion, item.attachments)
    if output is not None and output.choices:
        message = output.choices[0].message
        return "" if message is None else _message_text(message, item.attachments)
    messages = decode(bytes(item.sample.messages), _MESSAGES, f"{path}: the messages of a sample")
    answers = [message for message in messages or () if message.role == "assistant"]
    return _message_text(answers[-1], item.attachments) if answers else ""


def _message_text(message: _Message, attachments: Attachments) -> str:
    """The text of a message: its content, or the parts of it that are text."""
    if isinstance(message.content, list):
        parts = [p.get("text") for p in message.content if isinstance(p, dict)]
        texts = [_resolved(part, attachments) for part in parts if isinstance(part, str)]
        return "\n".join(texts)
    return "" if message.content is None else _resolved(text(message.content), attachments)


def _input_digest(item: _LoggedSample) -> str | None:
    """Of messages only role and content count: their ids differ from run to run."""
    asked = item.sample.input
    if asked is None:
        return None
    if isinstance(asked, list):
        asked = [
            {"role": m.get("role"), "content": m.get("content")} if isinstance(m, dict) else m
            for m in asked
        ]
    return digest(_resolved_all(asked, item.attachments))


def _resolved(value: str, attachments: Attachments) -> str:
    """A text, or the attachment that it refers to. A dangling reference stays as it is."""
    found = _ATTACHMENT.match(value)
    return value if found is None else attachments().get(found[1], value)


def _resolved_all(value: Any, attachments: Attachments) -> Any:
    if isinstance(value, str):
        return _resolved(value, attachments)
    if isinstance(value, list):
        return [_resolved_all(item, attachments) for item in value]
    if isinstance(value, dict):
        return {key: _resolved_all(item, attachments) for key, item in value.items()}
    return value


def _json_samples(path: Path, log: _Log) -> Iterator[_LoggedSample]:
    if not log.samples:
        raise _no_samples(path)
    for sample in log.samples:
        yield _LoggedSample(sample, _own_attachments(path, sample))


def _own_attachments(path: Path, sample: _Sample) -> Attachments:
    @cache
    def load() -> Mapping[str, str]:
        return decode(bytes(sample.attachments), _ATTACHMENTS, f"{path}: the attachments") or {}

    return load


def _zip_header(path: Path, entries: ZipEntries) -> _Header:
    """The header; of a log that is still being written, how it started."""
    for name in ("header.json", "_journal/start.json"):
        if name in entries:
            return decode(entries.read(name), _HEADER, f"{path}: {name}")
    raise DataError(
        f"{path} has neither header.json nor _journal/start.json",
        hint="Is it a complete log of Inspect?",
    )


def _zip_samples(path: Path, entries: ZipEntries) -> Iterator[_LoggedSample]:
    names = entries.names
    whole = [name for name in names if _WHOLE_SAMPLE.match(name)]
    chunked = [found for name in names if (found := _CHUNKED_SAMPLE.match(name))]
    if not whole and not chunked:
        raise _no_samples(path)
    for name in whole:
        sample = decode(entries.read(name), _SAMPLE, f"{path}: {name[:80]}")
        yield _LoggedSample(sample, _own_attachments(path, sample))
    chunks = _attachment_chunks(names) if chunked else {}
    for found in chunked:
        sample = decode(entries.read(found[0]), _SAMPLE, f"{path}: {found[0][:80]}")
        yield _LoggedSample(sample, _chunked_attachments(path, entries, chunks.get(found[1], ())))


def _attachment_chunks(names: list[str]) -> dict[str, list[str]]:
    """The entries with attachments of each sample, in the order of their numbers."""
    chunks: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        found = _ATTACHMENT_CHUNK.match(name)
        if found is not None:
            chunks.setdefault(found[1], []).append((int(found[2]), name))
    return {prefix: [name for _, name in sorted(named)] for prefix, named in chunks.items()}


def _chunked_attachments(
    path: Path, entries: ZipEntries, chunks: list[str] | tuple[()]
) -> Attachments:
    """In the chunked layout the key of an attachment is its position."""

    @cache
    def load() -> Mapping[str, str]:
        texts = [
            item
            for chunk in chunks
            for item in decode(entries.read(chunk), _CHUNK, f"{path}: {chunk[:80]}")
        ]
        return {str(index): item for index, item in enumerate(texts)}

    return load


def _no_samples(path: Path) -> DataError:
    return DataError(
        f"{path} has no samples, only the header of a log",
        hint="Evaluate without --no-log-samples, and give the log itself.",
    )
