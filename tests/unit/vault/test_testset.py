"""A sealed testset: labels, corrections, predictions, and codes in the secret order."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.errors import DataError, InfrastructureError
from easeci.evidence.cells import Code
from easeci.vault.codes import load_codes, require_known_classes
from easeci.vault.intake import load_offered
from easeci.vault.labels import LabelsReceived
from easeci.vault.paths import open_vault
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset
from tests.unit.vault.making import SECRET, add_labels, sealed, write, written


def labelled(folder: Path, text: str) -> Path:
    return write(folder / "labels.csv", f"id,label\n{text}")


def refused(call: object, *fragments: str) -> None:
    assert callable(call)
    with pytest.raises(DataError) as caught:
        call()
    for fragment in fragments:
        assert fragment in str(caught.value)
    assert SECRET not in str(caught.value)


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


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("0,a\n1,a\n2,a\n3,a\n", ["lacks ids of the testset: 1, first 4"]),
        ("0,a\n1,a\n2,a\n3,a\n4,a\n5,a\n", ["has more ids than the testset: 1, first 5"]),
        ("0,a\n1,a\n2,a\n3,a\n3,b\n", ["more than once", "at id 3"]),
        ("0,a\n1,a\n2,a\n3,a\n4,\n", ["missing"]),
        ("", ["no rows"]),
    ],
)
def test_predictions_cover_the_testset_exactly(
    tmp_path: Path, text: str, fragments: list[str]
) -> None:
    _, _, testset = sealed(tmp_path)
    path = write(tmp_path / "p.csv", f"id,prediction\n{text}")
    refused(lambda: testset.predictions.store(path), *fragments)
    assert list((testset.folder / "predictions").iterdir()) == []


VALUES = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=5, max_size=5),
    st.lists(
        # Text tells -0.0 from 0.0, numbers do not.
        st.floats(allow_nan=False, allow_infinity=False).map(lambda value: value + 0.0),
        min_size=5,
        max_size=5,
    ),
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1).filter(
            lambda text: text.lower() != "nan"
        ),
        min_size=5,
        max_size=5,
    ),
)


@pytest.fixture(scope="module")
def shared_testset(tmp_path_factory: pytest.TempPathFactory) -> SealedTestset:
    _, _, testset = sealed(tmp_path_factory.mktemp("shared"))
    return testset


@settings(max_examples=40)
@given(values=VALUES, order=st.permutations(range(5)), changed=st.integers(0, 4))
def test_a_fingerprint_stands_for_the_values(
    shared_testset: SealedTestset, values: list[object], order: list[int], changed: int
) -> None:
    """It is the same in any order and format, and different if any value is."""
    folder = shared_testset.folder.parent
    frame = pl.DataFrame({"id": range(5), "prediction": values})
    texts = frame.with_columns(pl.col("prediction").cast(pl.String))
    whole = shared_testset.predictions.store(written(folder / "p.parquet", frame.to_dict()))
    same = [
        written(folder / "q.parquet", frame[order].to_dict()),
        written(folder / "q.csv", texts[order].to_dict()),
        written(folder / "q.jsonl", texts[order].to_dict()),
    ]
    for path in same:
        stored = shared_testset.predictions.store(path)
        assert stored == whole
    other = texts["prediction"].to_list()
    other[changed] += "0"
    different = written(folder / "r.csv", {"id": range(5), "prediction": other})
    assert shared_testset.predictions.store(different).fingerprint != whole.fingerprint


def test_neighbouring_values_do_not_run_together(tmp_path: Path) -> None:
    _, _, testset = sealed(tmp_path)
    fingerprints = {
        testset.predictions.store(
            written(tmp_path / "p.csv", {"id": range(5), "prediction": values})
        ).fingerprint
        for values in (["ab", "c", "x", "x", "x"], ["a", "bc", "x", "x", "x"])
    }
    assert len(fingerprints) == 2


def test_codes_are_in_the_secret_order(tmp_path: Path) -> None:
    """Each position has the code of the example whose id stands there."""
    vault = open_vault(tmp_path / "store", "demo")
    examples = written(tmp_path / "e.jsonl", {"id": [f"e{i}" for i in range(7)], "x": range(7)})
    text = "id,label\n" + "".join(f"e{i},{i % 2}\n" for i in range(5))
    sealed_as = seal(vault, 1, load_offered(examples, labels=write(tmp_path / "l.csv", text)))
    testset = SealedTestset(vault, 1)
    ids = [f"e{i}" for i in range(7)]
    new = testset.predictions.store(
        written(tmp_path / "n.parquet", {"id": ids, "prediction": [0, 0, 0, 2, 2, 0, 0]})
    )
    old = testset.predictions.store(
        written(tmp_path / "o.csv", {"id": ids[::-1], "prediction": [1, 0, 3, 1, 1, 0, 0]})
    )
    expected = {
        "e0": Code.AGREE_RIGHT,
        "e1": Code.AGREE_WRONG,
        "e2": Code.NEW_RIGHT,
        "e3": Code.OLD_RIGHT,
        "e4": Code.BOTH_WRONG,
        "e5": Code.AGREE_UNLABELLED,
        "e6": Code.DIFFER_UNLABELLED,
    }
    codes = load_codes(testset, new.name, old.name, sealed_as.label_files)
    assert codes.dtype == np.uint8
    assert dict(zip(testset.examples.ids_at(range(7)), codes, strict=True)) == expected
    assert set(load_codes(testset, new.name, None, [])) == {Code.AGREE_UNLABELLED}
    rows = testset.examples.rows_at([6, 2])
    assert [row["id"] for row in rows] == testset.examples.ids_at([6, 2]).to_list()
    assert all(f"e{row['x']}" == row["id"] for row in rows)


def test_values_that_never_meet_are_errors_without_labels(tmp_path: Path) -> None:
    _, _, testset = sealed(tmp_path)
    received = add_labels(
        testset, labelled(tmp_path, "".join(f"{i},{SECRET}{i % 2}\n" for i in range(5))), known=[]
    )
    numbers = add_labels(
        testset, labelled(tmp_path, "".join(f"{i},{i}\n" for i in range(5))), known=[]
    )
    assert received.file is not None
    assert numbers.file is not None
    never = testset.predictions.store(
        written(tmp_path / "p.csv", {"id": range(5), "prediction": ["cat"] * 5})
    )
    decimals = testset.predictions.store(
        written(tmp_path / "p.csv", {"id": range(5), "prediction": [1.0] * 5})
    )
    refused(
        lambda: require_known_classes(testset, never.name, [str(received.file)]),
        "ever equal to any label",
    )
    refused(lambda: require_known_classes(testset, decimals.name, [str(numbers.file)]), "3 and 3.0")
    # Deciding never fails on them: a step that is charged must be decided.
    assert len(load_codes(testset, never.name, None, [str(received.file)])) == 5


def test_what_is_read_is_verified(tmp_path: Path) -> None:
    """With the digests of the record at hand, nothing is read from a file that was changed."""
    vault, sealed_as, testset = sealed(tmp_path)
    received = add_labels(testset, labelled(tmp_path, "1,a\n"), known=[])
    assert received.file is not None
    assert received.digest is not None
    digests = {**sealed_as.digests, received.file: received.digest}
    assert SealedTestset(vault, 1, digests).labels.values([received.file]).to_list()[1] == "a"
    other = add_labels(testset, labelled(tmp_path, "1,b\n"), known=[])
    assert other.file is not None
    (testset.folder / other.file).replace(testset.folder / received.file)
    for name in ("order.npy", "ids.parquet"):
        (testset.folder / name).write_bytes((testset.folder / name).read_bytes() + b"\0")
    changed = SealedTestset(vault, 1, digests)
    for read in (
        lambda: changed.labels.values([str(received.file)]),
        lambda: changed.examples.order,
        lambda: changed.examples.ids,
    ):
        with pytest.raises(InfrastructureError, match="was changed or damaged"):
            read()
    with pytest.raises(InfrastructureError, match="cannot be read: it is not there"):
        testset.labels.values(["labels/0009.parquet"])


@pytest.mark.parametrize("name", ["order.npy", "ids.parquet", "fingerprints.npy"])
def test_files_cut_short_are_errors_in_words(tmp_path: Path, name: str) -> None:
    vault, _, _ = sealed(tmp_path)
    path = vault.testset_folder(1) / name
    for content in (b"", path.read_bytes()[:50]):
        path.write_bytes(content)
        testset = SealedTestset(vault, 1)
        with pytest.raises(InfrastructureError, match="was changed or damaged"):
            _ = (testset.examples.ids, testset.examples.order, testset.examples.fingerprints)


def test_predictions_that_were_tampered_with_are_not_taken_for_known(tmp_path: Path) -> None:
    _, _, testset = sealed(tmp_path)
    paths = [
        written(tmp_path / f"{value}.csv", {"id": range(5), "prediction": [value] * 5})
        for value in "ab"
    ]
    first, second = (testset.predictions.store(path) for path in paths)
    (testset.folder / second.name).replace(testset.folder / first.name)
    with pytest.raises(InfrastructureError, match="was changed or damaged"):
        testset.predictions.store(paths[0])
