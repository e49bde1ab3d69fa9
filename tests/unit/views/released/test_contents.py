"""All tables of a released testset from its columns, and the words beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from easeci.cli.released import show_released
from easeci.errors import UsageError
from easeci.views.released.choice import ComparedModel
from easeci.views.released.contents import (
    DifferingCounts,
    ReleasedColumns,
    ReleasedReport,
    compute_tables,
    released_document,
)
from easeci.views.released.page import MOST_COLUMNS, MOST_ROWS, released_page, released_view
from easeci.views.released.wording import differing_words, how_to_read
from easeci.views.released.writing import write_released

FOUND = ReleasedColumns(
    ids=pl.Series([1, 2, 3, 4, 5, 6]),
    labels=pl.Series([None, "a", "b", None, "c", None], dtype=pl.String),
    states=pl.Series([None, "label", "label", "cannot tell", "label", "skipped"]),
    new=pl.Series(["a", "a", "b", "b", "a", "b"]),
    old=pl.Series(["b", "b", "b", "b", "b", "b"]),
    columns=pl.DataFrame({"lang": ["de", "en"] * 3}),
)
NEW = ComparedModel("1" * 40, "<b>new</b>\x1b[31m", 2, "new")
OLD = ComparedModel("2" * 40, "", None, "old")


def report(found: ReleasedColumns = FOUND) -> ReleasedReport:
    old = None if found.old is None else OLD
    condition = "n - o > 0.02 +/- 0.01"
    return ReleasedReport(
        "p", 1, "2026-11-16T00:00:00Z", condition, NEW, old, compute_tables(found)
    )


def many(size: int, classes: int) -> ReleasedColumns:
    """Models that differ on half of the examples, and that have many columns."""
    labels = pl.Series([f"a class with number {row % classes}" for row in range(size)])
    old = pl.Series([name if row % 2 else "other" for row, name in enumerate(labels)])
    columns = {f"pixel {place}": [str(row % 3) for row in range(size)] for place in range(20)}
    states = pl.Series(["label"] * size)
    ids = pl.Series([f"{row:036}" for row in range(size)])
    return ReleasedColumns(ids, labels, states, labels, old, pl.DataFrame(columns))


def test_the_examples_that_differ_are_counted_and_labelled_ones_come_first() -> None:
    tables = compute_tables(FOUND)
    assert tables.differ == DifferingCounts(3, 2, 1, 0, 1)
    assert tables.differing.rows() == [
        (2, "a", "a", "b"),
        (5, "c", "a", "b"),
        (1, None, "a", "b"),
    ]
    assert (tables.cannot_tell, tables.unsettled) == (1, 1)
    assert (tables.whole.labelled, tables.whole.new, tables.whole.old) == (3, 2 / 3, 1 / 3)


def test_it_says_that_labels_are_not_a_random_sample() -> None:
    """With the share of labelled examples on which the models differ beside that of all."""
    said = " ".join(how_to_read(compute_tables(FOUND)))
    assert "3 of 6 examples are labelled." in said
    assert "not a random sample" in said
    assert "differ on 66.7% of the labelled examples, and on 50.0% of all" in said
    assert "name no class: 1 can't tell, 1 skipped or disputed." in said
    assert "right on 1, the old one on 0, and neither on 1." in differing_words(report())


def test_it_says_so_only_where_it_is_true() -> None:
    whole = " ".join(how_to_read(compute_tables(many(60, 3))))
    assert "All 60 examples are labelled" in whole
    assert "random sample" not in whole
    nothing = replace(FOUND, labels=pl.Series([None] * 6, dtype=pl.String))
    assert "No example has a label" in how_to_read(compute_tables(nothing))[0]
    alone = report(replace(FOUND, old=None))
    assert "over-represented" not in " ".join(how_to_read(alone.tables))
    assert alone.tables.differ is None
    assert alone.tables.differing.is_empty()


def test_json_has_everything() -> None:
    document = json.loads(json.dumps(released_document(report(many(1000, 30)))))
    assert len(document["differing"]) == 500
    assert len(document["slices"]) == 60
    assert len(document["classes"]) == 30
    assert document["confusion"]["new"]["others"] == 21  # with "other", which the old one predicts
    assert document["new"] == {"commit": "1" * 40, "subject": NEW.subject, "step": 2}


def test_pages_show_a_part_and_count_the_rest() -> None:
    shown = released_view(report(many(1000, 30)))
    assert (len(shown.differing), shown.more_differing) == (MOST_ROWS, 500 - MOST_ROWS)
    assert (len(shown.slices), shown.more_columns) == (MOST_COLUMNS, 8)
    assert (len(shown.classes), shown.more_classes) == (10, 20)
    assert shown.matrices[0].numbered
    assert shown.matrices[0].rows[0][0] == "1 a class with number 0"
    assert len(shown.report.tables.differing) == MOST_ROWS, "a cache does not hold the rest"


def test_the_file_takes_nothing_for_markup_and_needs_no_other() -> None:
    page = released_page(report())
    assert "&lt;b&gt;new&lt;/b&gt;" in page
    assert "<b>new" not in page
    assert "\x1b" not in page
    assert "not a random sample" in page
    assert "<script" not in page
    assert "src=" not in page
    for empty in (replace(FOUND, old=None), replace(FOUND, labels=pl.Series([None] * 6))):
        assert "Confusion matrix" in released_page(report(empty))


@pytest.mark.parametrize("name", ["all.html", "differing.csv"])
def test_a_file_is_what_its_name_says(tmp_path: Path, name: str) -> None:
    write_released(report(), tmp_path / name)
    text = (tmp_path / name).read_text("utf-8")
    assert text.startswith("id,label,new,old\n2,a,a,b\n" if name.endswith("csv") else "<!DOCTYPE")


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"neither \.html nor \.csv"):
        write_released(report(), tmp_path / "all.json")
    with pytest.raises(UsageError, match="no other model"):
        write_released(report(replace(FOUND, old=None)), tmp_path / "differing.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("found", [FOUND, replace(FOUND, old=None), many(3000, 30)])
def test_a_terminal_of_80_columns_is_enough(
    found: ReleasedColumns, capsys: pytest.CaptureFixture[str]
) -> None:
    """With many classes of long names, long ids, and control characters in a subject."""
    show_released(report(found))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in "".join(lines)
    assert any("Confusion matrix of n" in line for line in lines)
