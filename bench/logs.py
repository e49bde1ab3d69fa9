"""Reading evaluation logs of 50,000 samples, against orjson and polars parsing the same JSON."""

from __future__ import annotations

import json
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import zstandard

from bench.page import Section
from bench.progress import tell
from bench.ratio import Ratio, ratio, ratio_section
from easeci.tables.logs import LogChoice, load_log

SAMPLES = 50_000
OPENING = """\
## Evaluation logs of 50,000 samples

Reading logs of Inspect and promptfoo: parsing, checking, scores and digests of the inputs. orjson
parses the same JSON into Python objects; polars parses a file of lines into a table. For an `.eval`
file orjson parses the content of the entries, after zlib or zstd unpacked them. Half of the samples
of the log with NaN have one. Times are processor times."""
WORDS = "the quick brown fox jumps over the lazy dog and then it rests for a while in the shade "


def section() -> Section:
    return ratio_section(OPENING, measure())


def measure(samples: int = SAMPLES) -> list[Ratio]:
    with tempfile.TemporaryDirectory() as folder:
        return list(_measure(Path(folder), samples))


def _measure(folder: Path, samples: int) -> Iterator[Ratio]:
    size = f"{samples:,} samples"
    plain, bare = folder / "plain.json", folder / "nan.json"
    plain.write_bytes(orjson.dumps(inspect_log(samples)))
    yield _ratio(f"Inspect `.json`, {size}", plain, lambda: orjson.loads(plain.read_bytes()))
    bare.write_text(json.dumps(inspect_log(samples, every_other=float("nan"))))
    # orjson refuses NaN, so it parses the same file without it.
    yield _ratio(
        f"Inspect `.json` with NaN, {size}", bare, lambda: orjson.loads(plain.read_bytes())
    )
    for method, name in ((zipfile.ZIP_DEFLATED, "deflate"), (93, "zstd")):
        packed = folder / f"{name}.eval"
        contents = write_eval(packed, inspect_log(samples), zstd=method == 93)
        yield _ratio(
            f"Inspect `.eval` ({name}), {size}",
            packed,
            lambda contents=contents: [orjson.loads(unpack()) for unpack in contents],  # type: ignore[misc]
            against="orjson, after unpacking",
        )
    results, lines = folder / "results.json", folder / "results.jsonl"
    # No log stays in memory: the collector of garbage would look through it again and again.
    results.write_bytes(orjson.dumps(promptfoo_log(samples)))
    yield _ratio(f"promptfoo `.json`, {size}", results, lambda: orjson.loads(results.read_bytes()))
    lines.write_bytes(
        b"".join(orjson.dumps(_promptfoo_result(index)) + b"\n" for index in range(samples))
    )
    yield _ratio(
        f"promptfoo `.jsonl`, {size}", lines, lambda: pl.read_ndjson(lines), against="polars"
    )


def _ratio(what: str, path: Path, baseline: Callable[[], object], against: str = "orjson") -> Ratio:
    tell(f"  {what}")
    rows = load_log(path).rows
    assert rows["score.match" if "Inspect" in what else "score.score"].null_count() < len(rows)
    return ratio(
        what,
        lambda: load_log(path, LogChoice()),
        against,
        baseline,
        promised=3.0,
        rounds=3,
        clock=time.process_time,
    )


def inspect_log(samples: int, every_other: float | str = "I") -> dict[str, Any]:
    """A log as Inspect writes it: every sample has events, messages and a score."""
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "bench", "model": "stand-in", "dataset": {}, "config": {}},
        "plan": {"name": "plan", "steps": []},
        "samples": [_inspect_sample(i, "C" if i % 2 else every_other) for i in range(samples)],
    }


def _inspect_sample(index: int, value: float | str) -> dict[str, Any]:
    question, answer = f"{index}: {WORDS}", f"{WORDS * 2}{index}"
    message = {"role": "assistant", "content": answer, "id": f"m{index}", "source": "generate"}
    return {
        "id": index,
        "epoch": 1,
        "input": question,
        "target": "42",
        "messages": [{"role": "user", "content": question, "id": f"q{index}"}, message],
        "output": {
            "model": "stand-in",
            "choices": [{"message": message, "stop_reason": "stop"}],
            "completion": answer,
            "usage": {"input_tokens": 20, "output_tokens": 40, "total_tokens": 60},
        },
        "scores": {"match": {"value": value, "answer": answer, "explanation": answer}},
        "metadata": {},
        "events": [
            {"event": kind, "timestamp": "2026-01-01T00:00:00+00:00", "span_id": f"{index}-{kind}"}
            for kind in ("span_begin", "sample_init", "state", "score", "span_end")
        ],
        "attachments": {},
    }


def write_eval(path: Path, log: dict[str, Any], *, zstd: bool) -> list[Callable[[], bytes]]:
    """Write a log as ``.eval``; return what unpacks each sample again."""
    samples = [orjson.dumps(sample) for sample in log["samples"]]
    header = orjson.dumps({key: value for key, value in log.items() if key != "samples"})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", header)
        for index, content in enumerate(samples):
            archive.writestr(f"samples/{index}_epoch_1.json", content)
    if not zstd:
        packed = [zlib.compress(content) for content in samples]
        return [lambda x=x: zlib.decompress(x) for x in packed]  # type: ignore[misc]
    entries = [("header.json", header)]
    entries += [(f"samples/{i}_epoch_1.json", content) for i, content in enumerate(samples)]
    write_zstd_zip(path, entries)
    compressor, decompressor = zstandard.ZstdCompressor(), zstandard.ZstdDecompressor()
    frames = [compressor.compress(content) for content in samples]
    return [lambda x=x: decompressor.decompress(x) for x in frames]  # type: ignore[misc]


def write_zstd_zip(path: Path, entries: list[tuple[str, bytes]]) -> None:
    """A zip file with entries compressed by zstd, which ``zipfile`` itself cannot write.

    The entries are stored after compression, and then the directory is told the method, the true
    size and the checksum.
    """
    compressor = zstandard.ZstdCompressor()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in entries:
            archive.writestr(name, compressor.compress(content))
        for info, (_, content) in zip(archive.filelist, entries, strict=True):
            info.compress_type, info.file_size = 93, len(content)
            info.CRC = zlib.crc32(content)


def promptfoo_log(results: int) -> dict[str, Any]:
    """A file as promptfoo writes it: one provider, one prompt."""
    return {
        "evalId": "eval-bench",
        "results": {
            "version": 3,
            "timestamp": "2026-01-01T00:00:00.000Z",
            "prompts": [],
            "results": [_promptfoo_result(index) for index in range(results)],
            "stats": {},
        },
        "config": {},
        "shareableUrl": None,
    }


def _promptfoo_result(index: int) -> dict[str, Any]:
    asked = {"question": f"{index}: {WORDS}"}
    graded = {"pass": True, "score": 1, "reason": WORDS}
    return {
        "cost": 0,
        "gradingResult": {**graded, "namedScores": {}, "componentResults": [graded, graded]},
        "id": f"result-{index}",
        "latencyMs": 12,
        "namedScores": {},
        "prompt": {"raw": f"Answer: {asked['question']}", "label": "Answer: {{question}}"},
        "promptId": "p" * 64,
        "promptIdx": 0,
        "provider": {"id": "stand-in", "label": ""},
        "response": {"output": f"{WORDS * 2}{index}", "tokenUsage": {"total": 60}},
        "score": index % 2,
        "success": index % 2 == 1,
        "testCase": {"vars": asked, "assert": [{"type": "contains", "value": "42"}]},
        "testIdx": index,
        "vars": asked,
        "metadata": {},
        "failureReason": (index + 1) % 2,
    }


if __name__ == "__main__":
    print(section().text)
