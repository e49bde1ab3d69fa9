"""The library: a handful of names, from memory or from files."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import easeci
from easeci import service
from easeci.evidence.cells import Code
from easeci.evidence.facts import Facts
from easeci.tables.order import keyed_order
from easeci.verdict.decide import decide
from tests.cases import each_case

LABELS = np.arange(2000) % 4
BETTER = np.where(np.arange(2000) % 20 == 0, (LABELS + 1) % 4, LABELS)
WORSE = np.where(np.arange(2000) % 3 == 0, (LABELS + 1) % 4, LABELS)
EXAMPLES = pl.DataFrame({"id": range(2000), "lang": ["de", "en"] * 1000, "truth": LABELS})


def test_a_verdict_on_arrays() -> None:
    script = easeci.make_script("n - o > 0.05 +/- 0.1", reliability=0.99, steps=1)
    result = easeci.check(script, new=BETTER, old=WORSE, labels=LABELS)
    assert result.verdict.result is easeci.Result.TRUE
    assert result.verdict.passed is True
    exact = easeci.make_script("n - o > 0.05 +/- 0.1", reliability=0.99, estimator="exact")
    (found,) = easeci.check(exact, new=BETTER, old=WORSE, labels=LABELS).verdict.clauses
    assert found.estimate is not None
    assert float(found.estimate) == np.mean(BETTER == LABELS) - np.mean(WORSE == LABELS)


def test_auto_is_sequential_whatever_labels_are_there() -> None:
    """With all labels too; only then is the user told of exact."""
    script = easeci.make_script("n - o > 0.05 +/- 0.1", reliability=0.99, steps=1)
    but_one = {i: int(LABELS[i]) for i in range(2000) if i != 3}  # where the models differ
    for given, apt in ((LABELS, True), (but_one, False)):
        checked = easeci.check(script, new=BETTER, old=WORSE, labels=given)
        assert checked.verdict.estimator == "sequential"
        assert checked.exact_is_apt is apt
        assert checked.verdict.at_hand == checked.verdict.labels
    chosen = easeci.make_script("n - o > 0.05 +/- 0.1", reliability=0.99, estimator="exact")
    exact = easeci.check(chosen, new=BETTER, old=WORSE, labels=LABELS)
    assert (exact.verdict.estimator, exact.exact_is_apt) == ("exact", False)


def trial() -> dict[str, np.ndarray]:
    """The models of a user's first trial: accuracies .884 and .908, 6,000 examples."""
    counts = np.round(np.array([0.880, 0.082, 0.028, 0.004, 0.006]) * 6_000).astype(int)
    cells = np.random.default_rng(14).permutation(np.repeat(np.arange(5), counts))
    new, old = np.array([0, 1, 0, 1, 1])[cells], np.array([0, 1, 1, 0, 2])[cells]
    return {"new": new, "old": old, "labels": np.zeros(6_000, int)}


def test_the_better_model_of_the_trial_passes_with_its_labels_and_asks_few_without() -> None:
    script = easeci.make_script("n - o > 0.01 +/- 0.02", steps=1)
    files = trial()
    assert np.mean(files["new"] == 0) == pytest.approx(0.908)
    assert np.mean(files["old"] == 0) == pytest.approx(0.884)
    new, old = files["new"], files["old"]
    checked = easeci.check(script, new=new, old=old, labels=files["labels"])
    assert checked.verdict.passed is True
    given: dict[int, int] = {}
    while checked.verdict.passed is not False:
        checked = easeci.check(script, new=new, old=old, labels=given or None)
        given |= {int(i): 0 for i in checked.wanted_ids}
        assert len(given) < 200
    assert "stopped asking" in str(checked) or "asked for no label" in str(checked)


def test_a_result_prints_as_a_few_readable_lines() -> None:
    script = easeci.make_script("n - o > 0.05 +/- 0.1", reliability=0.99, steps=1)
    checked = easeci.check(script, new=BETTER, old=WORSE, labels=LABELS)
    first, clause, last = str(checked).splitlines()
    labels = checked.verdict.labels
    assert first == f"PASS: shown to be better by more than 5 points, after {labels} labels"
    assert clause.startswith("  n - o > 0.05 +/- 0.1: True, n - o = +")
    assert " points, interval +" in clause
    assert last == f"  by sequential, on 2,000 examples and {labels} labels"
    assert repr(checked) == f"<Checked {first}>"
    assert str(checked.verdict) == str(checked)
    assert repr(checked.verdict) == f"<Verdict {first}>"
    waiting = easeci.check(script, new=BETTER, old=WORSE)
    assert str(waiting).startswith(f"WAITING: waits for {len(waiting.wanted_ids)} labels\n")
    assert "n - o = not known" in str(waiting)


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


@pytest.mark.parametrize(("name", "text"), [("labels.csv", "id,label\n"), ("labels.jsonl", "")])
def test_a_file_without_labels_is_a_partial_one(tmp_path: Path, name: str, text: str) -> None:
    """The verdict waits for the same labels as without a file."""
    script = easeci.make_script("n - o > 0.05 +/- 0.1", reliability=0.99, steps=1)
    path = tmp_path / name
    path.write_text(text)
    found = easeci.check(script, new=BETTER, old=WORSE, labels=path)
    assert found.verdict.passed is None
    without = easeci.check(script, new=BETTER, old=WORSE)
    assert found.wanted_ids.to_list() == without.wanted_ids.to_list() != []


def test_labels_that_are_wanted_are_named() -> None:
    script = easeci.make_script(
        "n > 0.5 +/- 0.1", reliability=0.9, steps=1, adaptivity="none", estimator="hoeffding"
    )
    waiting = easeci.check(script, new=BETTER)
    assert waiting.verdict.passed is None
    assert len(waiting.wanted_ids) == 116
    given = {int(i): int(LABELS[i]) for i in waiting.wanted_ids}
    assert easeci.check(script, new=BETTER, labels=given).verdict.passed is True


@each_case("most_digests", [100_000, 0])
@each_case("labelled", [1.0, 0.02])
def test_slices_against_a_loop_along_the_order(
    most_digests: int, labelled: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For few ids and for many, which have another order; the order of the files never counts."""
    monkeypatch.setattr("easeci.tables.order.MOST_DIGESTS", most_digests)
    script = easeci.make_script("n[lang=*] > 0.8 +/- 0.05", reliability=0.9, steps=1)
    order = keyed_order(EXAMPLES["id"], "")
    labels = {int(i): int(LABELS[i]) for i in order[: int(labelled * 2000)]}
    cells = [Code.AGREE_UNLABELLED if i not in labels else BETTER[i] != LABELS[i] for i in order]
    expanded = script.expanded({"lang": ["de", "en"]})
    members = {
        where: np.array(
            [at for at, i in enumerate(order) if EXAMPLES["lang"][int(i)] == where.value]
        )
        for where in expanded.slices
    }
    facts = Facts(np.array(cells, np.uint8), slices=members)
    expected = decide(expanded, facts, at_hand=facts.cells < Code.AGREE_UNLABELLED)
    assert (expected.passed is None) == (labelled < 1.0)
    turned = dict(reversed(list(enumerate(BETTER.tolist()))))
    for new, examples in ((BETTER, EXAMPLES), (turned, EXAMPLES.sample(2000, seed=1))):
        found = easeci.check(script, new=new, labels=labels, examples=examples)
        assert found.verdict == expected
        assert found.wanted_ids.to_list() == order[list(expected.wanted)].tolist()


@each_case(
    ("condition", "examples", "expected", "fragment"),
    [
        (
            "n[lang=de] > 0.5 +/- 0.1",
            None,
            easeci.UsageError,
            "slices by columns of the examples (lang)",
        ),
        ("n[lang=de] > 0.5 +/- 0.1", "none.csv", easeci.UsageError, "there is no file none.csv"),
        ("n[lnag=de] > 0.5 +/- 0.1", EXAMPLES, easeci.DataError, "Did you mean 'lang'?"),
        ("n[truth=1] > 0.5 +/- 0.1", EXAMPLES, easeci.DataError, "'truth' holds the labels"),
        ("n[lang=de] > 0.5 +/- 0.1", EXAMPLES.head(5), easeci.DataError, "lacks ids of the new"),
        (
            'auc("1") > 0.8 +/- 0.1',
            None,
            easeci.DataError,
            "the new predictions has no probabilities",
        ),
    ],
)
def test_what_the_condition_needs_is_asked_for(
    condition: str, examples: Any, expected: type[Exception], fragment: str
) -> None:
    script = easeci.make_script(condition, reliability=0.9, steps=1)
    with pytest.raises(expected) as caught:
        easeci.check(script, new=BETTER, labels=LABELS, examples=examples)
    assert fragment in str(caught.value)


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
