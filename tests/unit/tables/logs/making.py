"""Small logs for tests, and the place of those that the real tools wrote."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import polars as pl

from easeci.tables.logs import EvalLog

FIXTURES = Path(__file__).parents[3] / "fixtures" / "logs"
SUMS = next(FIXTURES.glob("samples_sums_*.jsonl"))
CHOICE = next(FIXTURES.glob("samples_choice_*.jsonl"))


def by_key(log: EvalLog) -> pl.DataFrame:
    """The rows in an order that does not depend on the file."""
    return log.rows.sort("id", "trial")


def scores(log: EvalLog, metric: str) -> list[float | None]:
    """The scores of a metric, sorted by id and trial."""
    return by_key(log)[f"score.{metric}"].to_list()


def sample(identity: Any, value: Any = "C", **more: Any) -> dict[str, Any]:
    """A sample of Inspect."""
    return {
        "id": identity,
        "epoch": 1,
        "input": f"question {identity}",
        "output": {"completion": "an answer"},
        "scores": {"match": {"value": value}},
        **more,
    }


def inspect_json(path: Path, *samples: dict[str, Any], **more: Any) -> Path:
    """A log of Inspect in JSON. It may have bare NaN, as Inspect's have."""
    task = {"task": "arithmetic", "model": "stand-in"}
    log = {"version": 2, "status": "success", "eval": task, "samples": samples, **more}
    path.write_text(json.dumps(log), "utf-8")
    return path


def inspect_zip(path: Path, entries: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> Path:
    """A log of Inspect as a zip file with these entries and a header."""
    header = {"status": "success", "eval": {"task": "arithmetic", "model": "stand-in"}}
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in {"header.json": header, **entries}.items():
            archive.writestr(name, json.dumps(content))
    return path


def result(word: Any, score: Any = 1, **more: Any) -> dict[str, Any]:
    """A result of promptfoo."""
    return {
        "provider": {"id": "echo", "label": ""},
        "prompt": {"raw": f"Say {word}", "label": "Say {{word}}"},
        "promptIdx": 0,
        "vars": {"word": word},
        "response": {"output": "an answer"},
        "failureReason": 0,
        "gradingResult": {"pass": True},
        "score": score,
        "namedScores": {},
        **more,
    }


def promptfoo_json(path: Path, *results: dict[str, Any], **more: Any) -> Path:
    """A file of results of promptfoo."""
    numbered = [{"testIdx": index, **result} for index, result in enumerate(results)]
    found = {"evalId": "e", "results": {"version": 3, "results": numbered}, **more}
    path.write_text(json.dumps(found), "utf-8")
    return path


def document(identity: int, **more: Any) -> dict[str, Any]:
    """A line of lm-evaluation-harness."""
    return {
        "doc_id": identity,
        "doc": {"question": f"question {identity}"},
        "filtered_resps": ["an answer"],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": f"hash {identity}",
        "acc": 1.0,
        **more,
    }


def lm_eval_lines(path: Path, *documents: dict[str, Any]) -> Path:
    """A file of samples of lm-evaluation-harness."""
    path.write_text("".join(json.dumps(line) + "\n" for line in documents), "utf-8")
    return path
