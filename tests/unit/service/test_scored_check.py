"""``check`` on scores: in files and logs, or by a built-in rule."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import easeci
from easeci import EaseciError, make_script
from easeci.service.checks import Checked, check
from tests.cases import each_case

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
ONE = {"reliability": 0.9, "steps": 1, "adaptivity": "none"}


def drawn(size: int, gain: float, seed: int = 1) -> tuple[list[float], list[float]]:
    """Scores in quarters of two models, the new one better by about this much."""
    random = np.random.default_rng(seed)
    old = random.choice([0.0, 0.25, 0.5, 0.75], size)
    better = np.where(random.random(size) < 4 * gain, 0.25, 0.0)
    noise = random.choice([-0.25, 0.0, 0.25], size, p=[0.1, 0.8, 0.1])
    return np.clip(old + better + noise, 0, 1).tolist(), old.tolist()


def frame(scores: list[float], **more: object) -> pl.DataFrame:
    ids = [f"e{i}" for i in range(len(scores))]
    texts = [f"answer {i} {score}" for i, score in enumerate(scores)]
    return pl.DataFrame({"id": ids, "output": texts, "score": scores, **more})


def verdict(condition: str, new: object, old: object = None, **keys: object) -> Checked:
    return check(make_script(condition, **{**ONE, **keys}), new=new, old=old)


def test_scores_in_files_need_neither_labels_nor_a_scorer(tmp_path: Path) -> None:
    """The same verdict from CSV, JSONL, Parquet and a DataFrame, in any order of rows."""
    new, old = (frame(scores) for scores in drawn(900, 0.12))
    new.write_csv(tmp_path / "new.csv")
    new.sample(fraction=1.0, shuffle=True, seed=3).write_ndjson(tmp_path / "new.jsonl")
    new.write_parquet(tmp_path / "new.parquet")
    found = [
        verdict("n - o > 0.02 +/- 0.02", source, old)
        for source in (new, *(tmp_path / f"new.{ending}" for ending in ("csv", "jsonl", "parquet")))
    ]
    assert {str(one) for one in found} == {str(found[0])}
    assert found[0].verdict.passed
    pairs = found[0].pairs
    assert pairs is not None
    gain = (new["score"] - old["score"]).to_numpy()
    assert (pairs.better, pairs.worse) == ((gain > 0).sum(), (gain < 0).sum())
    assert pairs.better + pairs.worse + pairs.equal == 900


def test_the_estimate_is_the_mean_of_the_scores_that_were_looked_at() -> None:
    new, old = drawn(300, 0.0, seed=5)
    found = verdict("n - o > 0 +/- 0.02", frame(new), frame(old)).verdict.clauses[0]
    assert found.sample == 300
    assert float(found.estimate or 0) == pytest.approx(np.mean(np.array(new) - np.array(old)))
    low, high = (float(end) for end in (found.interval.low, found.interval.high))
    assert low < float(found.estimate or 0) < high


def test_more_examples_would_decide_what_these_leave_open() -> None:
    """The forecast is near the number of examples that a larger draw of the same kind needs."""
    few = verdict("n - o > 0.02 +/- 0.02", *(frame(s) for s in drawn(60, 0.06)))
    assert few.verdict.passed is False
    assert few.more_examples is not None
    lengths = []
    for seed in range(12):
        many = verdict("n - o > 0.02 +/- 0.02", *(frame(s) for s in drawn(3000, 0.06, seed)))
        assert many.verdict.passed
        assert many.more_examples is None
        lengths.append(many.verdict.clauses[0].sample)
    assert np.mean(lengths) / 3 < 60 + few.more_examples < 3 * np.mean(lengths)


def test_named_scores_stand_beside_the_main_one(tmp_path: Path) -> None:
    faithful = [1.0, 0.5] * 200
    new = frame([0.5] * 400, **{"score.faithful": faithful})
    nested = tmp_path / "new.jsonl"
    rows = [{"id": f"e{i}", "scores": {"faithful": value}} for i, value in enumerate(faithful)]
    nested.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for source in (new, nested):
        found = verdict("n.faithful > 0.6 +/- 0.05", source, scores=["faithful"])
        assert found.verdict.passed
    with pytest.raises(EaseciError, match="no score without a name"):
        verdict("n > 0.5 +/- 0.1", nested)


def test_the_example_is_the_unit_of_trials() -> None:
    """Three trials of an example are one number: their mean, or whether one of two passes."""
    rows = [(f"e{i}", t, float((i + t) % 3 == 0)) for i in range(300) for t in range(3)]
    new = pl.DataFrame(rows, schema=["id", "trial", "score"], orient="row")
    mean = verdict("n > 0.2 +/- 0.05", new).verdict
    assert mean.examples == 300
    assert float(mean.clauses[0].estimate or 0) == pytest.approx(1 / 3)
    best = verdict("pass@2 > 0.5 +/- 0.05", new, scores=["score"], trials=3).verdict
    assert float(best.clauses[0].estimate or 0) == pytest.approx(2 / 3, abs=1e-3)


def test_an_unsettled_score_counts_at_its_worst() -> None:
    """A failed call is neither left out nor 0: it widens the interval on both sides."""
    whole = frame([0.5] * 200)
    holes = whole.with_columns(
        score=pl.when(pl.int_range(pl.len()) < 20).then(None).otherwise("score")
    )
    certain, open_ = (
        verdict("n > 0.5 +/- 0.02", new).verdict.clauses[0].interval for new in (whole, holes)
    )
    assert open_.low < certain.low
    assert open_.high > certain.high


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_the_rule_exact_decides_as_predictions_do(data: st.DataObject) -> None:
    """Right or wrong is a score of 1 or 0: same answer, same labels, same intervals."""
    size = data.draw(st.integers(30, 200))
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    labels = random.choice(["a", "b", "c"], size)
    models = [
        np.where(random.random(size) < p, labels, random.choice(["a", "b", "c"], size))
        for p in (0.9, 0.5)
    ]
    known = np.where(random.random(size) < 0.9, labels, None)  # type: ignore[call-overload]
    condition = data.draw(st.sampled_from(["n > 0.7 +/- 0.1", "n - o > 0.1 +/- 0.1"]))

    def decided(column: str, **keys: object) -> Checked:
        sources = [pl.DataFrame({"id": range(size), column: model}) for model in models]
        truth = pl.DataFrame(
            {"id": range(size), "label": pl.Series(known.tolist(), dtype=pl.String)}
        )
        script = make_script(condition, estimator="sequential", **ONE, **keys)
        return check(script, new=sources[0], old=sources[1], labels=truth)

    plain, scored = decided("prediction"), decided("output", scorer="exact")
    assert scored.verdict.passed == plain.verdict.passed
    assert scored.wanted_ids.to_list() == plain.wanted_ids.to_list()
    assert scored.verdict.labels == plain.verdict.labels
    for one, other in zip(scored.verdict.clauses, plain.verdict.clauses, strict=True):
        assert float(one.interval.low) == pytest.approx(float(other.interval.low), abs=1e-9)
        assert one.estimate == other.estimate


def test_a_built_in_rule_asks_for_references(tmp_path: Path) -> None:
    """Only where outputs differ, and along the same order as for labels."""
    new = pl.DataFrame({"id": range(100), "output": [f"text {i}" for i in range(100)]})
    old = new.with_columns(
        output=pl.when(pl.col("id") < 60).then("output").otherwise(pl.lit("another"))
    )
    script = make_script("n - o > 0 +/- 0.05", scorer="contains(ignore-case)", **ONE)
    found = check(script, new=new, old=old)
    assert found.verdict.passed is None
    assert set(found.wanted_ids.to_list()) <= set(range(60, 100))
    references = pl.DataFrame(
        {"id": range(60, 100), "label": [f"TEXT {i}" for i in range(60, 100)]}
    )
    assert check(script, new=new, old=old, labels=references).verdict.passed


@each_case(
    "name", ["inspect.eval", "inspect.json", "inspect-chunked.eval", "inspect-deflated.eval"]
)
def test_logs_of_inspect_bring_their_scores(name: str) -> None:
    from easeci.service.scored_files import load_if_scored
    from easeci.tables.column import ColumnRole
    from easeci.tables.logs import LogChoice

    choice = LogChoice(metric="match")
    new, old = (
        load_if_scored(LOGS / name, role, choice) for role in (ColumnRole.NEW, ColumnRole.OLD)
    )
    assert new is not None
    found = check(make_script("n - o > -0.1 +/- 0.4", **ONE), new=new, old=old)
    assert found.pairs is not None
    assert (found.pairs.better, found.pairs.worse) == (0, 0)


@each_case(
    ("new", "old", "condition", "fragment"),
    [
        ("score", "plain", "n - o > 0 +/- 0.1", "the old one has none"),
        ("score", None, "n - o > 0 +/- 0.1", "predictions are needed too"),
        ("score", "fewer", "n - o > 0 +/- 0.1", "lacks ids"),
        ("score", "unnamed", "n - o > 0 +/- 0.1", "has no score"),
        ("bare", "bare", "d < 0.5 +/- 0.1", "has no outputs"),
        ("outside", None, "n > 0.5 +/- 0.1", "outside 0 to 1"),
        ("score", "judged twice", "n - o > 0 +/- 0.1 /\\ d < 0.9 +/- 0.05", "equal outputs have"),
    ],
)
def test_mistakes_are_explained(new: str, old: str | None, condition: str, fragment: str) -> None:
    whole = frame([0.5, 0.25, 1.0])
    tables = {
        "score": whole,
        "plain": whole.drop("score").rename({"output": "prediction"}),
        "fewer": whole.head(2),
        "unnamed": whole.rename({"score": "score.faithful"}),
        "bare": whole.drop("output"),
        "outside": whole.with_columns(score=pl.Series([0.5, 1.5, 0.2])),
        "judged twice": whole.with_columns(score=pl.Series([0.5, 0.5, 0.2])),
    }
    with pytest.raises(EaseciError) as caught:
        verdict(condition, tables[new], None if old is None else tables[old])
    assert fragment in str(caught.value)


def test_a_column_of_a_named_score_is_named_if_it_is_missing() -> None:
    """A table whose column is called faithful, and not score.faithful."""
    table = frame([0.5, 0.25], faithful=[1.0, 0.5])
    keys = {"scorer": "./score.py", "scores": ["faithful"]}
    with pytest.raises(EaseciError, match="has no score 'faithful'") as caught:
        verdict("n.faithful > 0.2 +/- 0.1", table, **keys)
    assert "Its column is called score.faithful." in (caught.value.hint or "")


def test_a_program_is_not_run_by_check() -> None:
    table = frame([0.5, 0.25]).drop("score")
    with pytest.raises(EaseciError, match="check runs no scorer"):
        verdict("n > 0.2 +/- 0.1", table, scorer="./score.py")


def test_the_library_takes_a_log_by_its_path() -> None:
    (samples,) = LOGS.glob("samples_choice_*.jsonl")
    script = easeci.make_script("n > 0.1 +/- 0.2", **ONE)
    assert easeci.check(script, new=samples).verdict.examples == 3


def test_all_examples_are_shown_where_a_verdict_stopped_early() -> None:
    """The whole estimate is the mean over all examples, and its interval is the narrower one."""
    new, old = drawn(900, 0.12)
    found = verdict("n - o > 0.02 +/- 0.02", frame(new), frame(old))
    decided, (whole,) = found.verdict.clauses[0], found.whole
    assert decided.sample < whole.examples == 900
    assert whole.estimate == pytest.approx(np.mean(np.array(new) - np.array(old)))
    shown = decided.interval
    assert whole.high - whole.low < float(shown.high - shown.low)
    assert whole.low < whole.estimate < whole.high


def test_references_that_are_missing_are_not_unsettled() -> None:
    """The rule waits for them; a score that failed is another matter."""
    new = pl.DataFrame({"id": range(40), "output": ["a"] * 40})
    old = new.with_columns(output=pl.lit("b"))
    references = pl.DataFrame({"id": range(10), "label": ["a"] * 10})
    script = make_script("n - o > 0 +/- 0.05", scorer="exact", **{**ONE, "reliability": 0.9999})
    found = check(script, new=new, old=old, labels=references)
    assert found.verdict.passed is None
    assert found.pairs is not None
    assert (found.pairs.better, found.pairs.unsettled) == (10, 0)
    assert found.labelled


def test_the_total_of_a_log_is_its_score() -> None:
    """promptfoo writes a total beside named scores; no option is needed to take it."""
    from easeci.tables.logs import LogChoice, load_log

    log = load_log(LOGS / "promptfoo.json", LogChoice(provider="parrot#1"))
    assert log.metric == "score"
