"""The library: a handful of names, from memory or from files."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import numpy as np
import pytest

import easeci
from easeci import service

LABELS = np.arange(2000) % 4
BETTER = np.where(np.arange(2000) % 20 == 0, (LABELS + 1) % 4, LABELS)
WORSE = np.where(np.arange(2000) % 3 == 0, (LABELS + 1) % 4, LABELS)


def test_a_verdict_on_arrays() -> None:
    script = easeci.make_script("n - o > 0.05 +/- 0.1", reliability=0.99, steps=1)
    result = easeci.check(script, new=BETTER, old=WORSE, labels=LABELS)
    assert result.verdict.result is easeci.Result.TRUE
    assert result.verdict.passed is True
    assert float(result.verdict.clauses[0].estimate or 0) == np.mean(BETTER == LABELS) - np.mean(
        WORSE == LABELS
    )


def test_arrays_and_files_agree(tmp_path: Path) -> None:
    """The same predictions from memory and from shuffled files give the same verdict."""
    script = easeci.make_script(r"n - o > 0.05 +/- 0.1 /\ d < 0.5 +/- 0.1", reliability=0.99)
    order = np.random.default_rng(3).permutation(2000)
    paths = {}
    for name, values, column in (
        ("new", BETTER, "prediction"),
        ("old", WORSE, "prediction"),
        ("labels", LABELS, "label"),
    ):
        paths[name] = tmp_path / f"{name}.jsonl"
        rows = [{"id": int(i), column: str(values[i])} for i in order]
        paths[name].write_text("\n".join(json.dumps(row) for row in rows))
    from_files = easeci.check(script, new=paths["new"], old=paths["old"], labels=paths["labels"])
    from_memory = easeci.check(script, new=BETTER, old=WORSE, labels=LABELS)
    assert from_files.verdict == from_memory.verdict


def test_what_is_not_needed_may_be_left_out() -> None:
    alone = easeci.make_script("n > 0.5 +/- 0.1", reliability=0.9, steps=1)
    assert easeci.check(alone, new=BETTER, labels=LABELS).verdict.passed
    difference = easeci.make_script("d < 0.5 +/- 0.1", reliability=0.9, steps=1)
    assert easeci.check(difference, new=BETTER, old=WORSE).verdict.passed
    with pytest.raises(easeci.UsageError, match="old model"):
        easeci.check(difference, new=BETTER)


def test_labels_that_are_wanted_are_named() -> None:
    script = easeci.make_script(
        "n > 0.5 +/- 0.1", reliability=0.9, steps=1, adaptivity="none", estimator="hoeffding"
    )
    waiting = easeci.check(script, new=BETTER)
    assert waiting.verdict.passed is None
    assert len(waiting.wanted_ids) == 116
    given = {int(i): int(LABELS[i]) for i in waiting.wanted_ids}
    assert easeci.check(script, new=BETTER, labels=given).verdict.passed is True


def test_every_public_name_is_there_and_documented() -> None:
    for name in easeci.__all__:
        assert getattr(easeci, name).__doc__
    assert set(easeci.__all__) <= set(dir(easeci))
    with pytest.raises(AttributeError):
        _ = easeci.nothing


def test_examples_in_docstrings() -> None:
    for module in (easeci, service):
        assert doctest.testmod(module).failed == 0


def test_a_file_that_is_not_there_is_a_mistake_even_if_it_is_not_needed() -> None:
    script = easeci.make_script("n > 0.5 +/- 0.1")
    with pytest.raises(easeci.UsageError, match=r"there is no file nowhere\.csv"):
        easeci.check(script, new=BETTER, old="nowhere.csv", labels=LABELS)
