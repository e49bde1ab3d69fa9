"""Labels of a testset: they arrive in parts, and change only as corrections."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from easeci.script.scorer import parse_scorer
from easeci.tables.label_formats import load_answers
from easeci.vault.labels import LabelsReceived
from tests.unit.vault.making import SECRET, add_labels, labelled, refused, sealed


def test_labels_arrive_in_parts(tmp_path: Path) -> None:
    _, _, testset = sealed(tmp_path)
    first = add_labels(testset, labelled(tmp_path, "3,c\n1,a\n2,\n"), known=[])
    assert (first.file, first.added, first.corrected, first.unchanged) == (
        "labels/0001.parquet",
        2,
        0,
        0,
    )
    assert first.file is not None
    second = add_labels(testset, labelled(tmp_path, "1,a\n2,b\n"), known=[first.file])
    assert second.file == "labels/0002.parquet"
    assert (second.added, second.corrected, second.unchanged) == (1, 0, 1)
    known = [first.file, second.file]
    assert testset.labels.values(known).to_list() == [None, "a", "b", "c", None]
    assert testset.labels.values(known[:1]).to_list() == [None, "a", None, "c", None]
    nothing = add_labels(testset, labelled(tmp_path, "1,a\n"), known=known)
    assert nothing == LabelsReceived(None, None, 0, 0, 1)


def test_a_label_changes_only_as_a_correction(tmp_path: Path) -> None:
    """And the labels as they were before can be read for ever."""
    _, _, testset = sealed(tmp_path)
    first = add_labels(testset, labelled(tmp_path, f"1,{SECRET}\n2,b\n"), known=[])
    assert first.file is not None
    changed = labelled(tmp_path, f"1,{SECRET}new\n2,b\n4,{SECRET}\n")
    refused(
        lambda: add_labels(testset, changed, known=[first.file], strict=True),
        "1 labels differ from those known, at id 1",
        "--correct",
    )
    assert len(list((testset.folder / "labels").iterdir())) == 1
    second = add_labels(testset, changed, known=[first.file], correct=True)
    assert (second.added, second.corrected, second.unchanged) == (1, 1, 1)
    assert second.file is not None
    assert testset.labels.values([first.file]).to_list()[1] == SECRET
    assert testset.labels.values([first.file, second.file]).to_list()[1] == f"{SECRET}new"


def test_labels_are_checked(tmp_path: Path) -> None:
    _, _, testset = sealed(tmp_path)
    add = partial(add_labels, testset)
    refused(lambda: add(labelled(tmp_path, f"9,{SECRET}\n"), known=[]), "ids that are not in")
    refused(lambda: add(labelled(tmp_path, f"{SECRET},1\n"), known=[]), "data row 1")
    refused(lambda: add(labelled(tmp_path, f"1,{SECRET}\n1,x\n"), known=[]), "more than once")
    first = add(labelled(tmp_path, "1,3\n"), known=[])
    assert first.file is not None
    refused(
        lambda: add(labelled(tmp_path, "1,3.0\n"), known=[first.file]), "3 and 3.0 are not the same"
    )


def test_label_files_are_numbered_past_any_that_was_never_recorded(tmp_path: Path) -> None:
    _, _, testset = sealed(tmp_path)
    add_labels(testset, labelled(tmp_path, "1,a\n"), known=[])
    again = add_labels(testset, labelled(tmp_path, "1,b\n"), known=[])
    assert again.file == "labels/0002.parquet"
    assert testset.labels.values([again.file]).to_list()[1] == "b"


def test_references_are_no_classes(tmp_path: Path) -> None:
    """Long ones and 3 beside 3.0 are fine; those that the scorer cannot use are left out."""
    _, _, testset = sealed(tmp_path)
    long = "x" * 100_000
    path = labelled(tmp_path, f"0,3\n1,{long}\n2,({SECRET}\n3,nan\n")
    refused(lambda: load_answers(path), "longer than 10,000 bytes")
    scorer = parse_scorer("regex")
    answers = load_answers(path, references=True)
    first = testset.labels.add(answers, known=[], scorer=scorer)
    assert first.file is not None
    assert testset.labels.values([first.file]).to_list() == ["3", long, None, "nan", None]
    assert first.problems == (
        "1 references are not regular expressions, or too large ones, at id 2",
    )
    more = labelled(tmp_path, "4,3.0\n")
    assert add_labels(testset, more, known=[first.file], scorer=scorer).added == 1
    longer = labelled(tmp_path, f"4,{long}x\n")
    refused(lambda: load_answers(longer, references=True), "longer than 100,000 bytes")
