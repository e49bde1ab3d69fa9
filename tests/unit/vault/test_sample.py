"""The public sample: set aside at random, and no part of the testset."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.errors import DataError
from easeci.vault.intake import load_offered
from easeci.vault.paths import Vault, open_vault
from easeci.vault.predictions import PredictionForm
from easeci.vault.sample import SealedSample, draw_sample
from easeci.vault.sealing import Seal, seal
from easeci.vault.testset import SealedTestset
from easeci.vault.verify import damage
from tests.unit.vault.making import exported, sealed, write, written

SIZE, SAMPLE = 60, 6


def label_of(number: int) -> str | None:
    """Fewer labels are missing than a sample has examples."""
    return None if number < SAMPLE - 1 else f"class{number % 3}"


def make(folder: Path, ending: str = "csv", **more: object) -> tuple[Vault, Seal, SealedTestset]:
    """A testset with images, labels and a sample. Some label of every sample is known."""
    for i in range(SIZE):
        write(folder / "files" / f"{i}.png", f"image {i}")
    columns = {
        "id": [f"e{i:02}" for i in range(SIZE)],
        "image": [f"{i}.png" for i in range(SIZE)],
        "y": [label_of(i) for i in range(SIZE)],
    }
    vault = open_vault(folder / "store", "demo")
    offer = load_offered(
        written(folder / f"e.{ending}", columns), label_column="y", files=folder / "files"
    )
    sealed_as = seal(vault, 1, offer, sample=SAMPLE)
    return vault, sealed_as, SealedTestset(vault, 1, sealed_as.digests)


def sample_of(testset: SealedTestset) -> SealedSample:
    assert testset.sample is not None
    return testset.sample


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_sample_is_not_part_of_the_testset(tmp_path: Path, ending: str) -> None:
    """No id, row, label or file of it is in the testset, and together they are all examples."""
    _, sealed_as, testset = make(tmp_path, ending)
    sample = sample_of(testset)
    public, secret = set(sample.ids), set(testset.examples.ids)
    assert (sample.size, sealed_as.sample, sealed_as.examples) == (SAMPLE, SAMPLE, SIZE - SAMPLE)
    assert len(public) == SAMPLE
    assert public.isdisjoint(secret)
    assert len(public | secret) == SIZE == len(testset.examples) + SAMPLE
    assert len(testset.examples.order) == SIZE - SAMPLE
    labelled = testset.labels.values(sealed_as.label_files)
    assert sealed_as.labels_known == len(labelled.drop_nulls())
    seen = exported(testset)
    text = b"".join(content for name, content in seen.items() if name.endswith("l"))
    assert not any(f'"{name}"'.encode() in text for name in public)
    images = {f"files/{int(name[1:])}.png" for name in secret}
    assert images == {name for name in seen if name.startswith("files/")}
    again = load_offered(testset.examples_folder / f"examples.{ending}")
    assert again.examples.ids.to_list() == testset.examples.ids.to_list()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_sample_has_the_form_of_a_testset(tmp_path: Path, ending: str) -> None:
    """Examples in the given format and as JSON lines, with their files, and public labels."""
    _, _, testset = make(tmp_path, ending)
    sample = sample_of(testset)
    found = load_offered(
        sample.examples_folder / f"examples.{ending}", files=sample.examples_folder / "files"
    )
    assert found.examples.ids.to_list() == sample.ids.to_list()
    assert found.label_column is None
    numbers = [int(name[1:]) for name in sample.ids]
    assert {path.name for path in (sample.examples_folder / "files").iterdir()} == {
        f"{number}.png" for number in numbers
    }
    expected = [label_of(number) for number in numbers]
    assert sample.labels().to_list() == expected


def test_predictions_for_the_sample_are_stored_like_those_for_the_testset(tmp_path: Path) -> None:
    """Their names are relative to the testset's folder, so that one record covers both."""
    vault, sealed_as, testset = make(tmp_path)
    sample = sample_of(testset)
    columns = {"id": sample.ids.reverse(), "prediction": ["a"] * (SAMPLE - 1) + ["b"]}
    stored = sample.predictions.store(
        written(tmp_path / "p.csv", columns), PredictionForm(("a", "b"))
    )
    assert stored.name.startswith("sample/predictions/")
    digests = sealed_as.digests | {stored.name: stored.digest}
    again = sample_of(SealedTestset(vault, 1, digests))
    assert again.predictions.load(stored.name).to_list() == ["b", *["a"] * (SAMPLE - 1)]
    assert damage(vault, {1: digests}) == []
    (testset.folder / stored.name).write_bytes(b"")
    assert damage(vault, {1: digests}) == [f"testset 1: {stored.name} was changed"]


def test_predictions_for_other_ids_are_refused(tmp_path: Path) -> None:
    """Those for the testset are not those for its sample."""
    _, _, testset = make(tmp_path)
    columns = {"id": testset.examples.ids, "prediction": ["a"] * (SIZE - SAMPLE)}
    with pytest.raises(DataError, match="lacks ids"):
        sample_of(testset).predictions.store(written(tmp_path / "p.csv", columns))


def test_predictions_outside_the_declared_classes_are_refused(tmp_path: Path) -> None:
    """The error names the wrong spellings and the declared ones; whole numbers are texts, too."""
    _, _, testset = sealed(tmp_path)
    made = written(
        tmp_path / "p.csv", {"id": range(5), "prediction": ["1", "1.0", "one", "2", "1"]}
    )
    with pytest.raises(DataError) as raised:
        testset.predictions.store(made, PredictionForm(("1", "2")))
    assert raised.value.message == (
        "2 of 5 predictions are none of the declared classes: '1.0', 'one'"
    )
    assert "classes: of the script declares '1', '2'." in str(raised.value)
    whole = written(tmp_path / "p.parquet", {"id": range(5), "prediction": [1, 2, 1, 2, 1]})
    assert testset.predictions.store(whole, PredictionForm(("1", "2"))).name


def test_a_wrong_column_name_is_named(tmp_path: Path) -> None:
    """In every format: which column is missing, and which there are."""
    _, _, testset = sealed(tmp_path)
    for ending in ("csv", "jsonl", "parquet"):
        made = written(tmp_path / f"p.{ending}", {"id": range(5), "pred": ["a"] * 5})
        with pytest.raises(DataError) as raised:
            testset.predictions.store(made)
        assert "has no column 'prediction'; it has id, pred" in raised.value.message


def test_any_change_to_the_sample_is_found(tmp_path: Path) -> None:
    """The seal covers all its files."""
    vault, sealed_as, testset = make(tmp_path)
    assert damage(vault, {1: sealed_as.digests}) == []
    files = [path for path in (testset.folder / "sample").rglob("*") if path.is_file()]
    assert len(files) == 2 + SAMPLE + 1 + 3 + 1
    for path in files:
        content = path.read_bytes()
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        name = path.relative_to(testset.folder).as_posix()
        assert f"testset 1: {name} was changed" in damage(vault, {1: sealed_as.digests})
        path.write_bytes(content)
    write(testset.folder / "sample" / "examples" / "more.txt", "x")
    assert damage(vault, {1: sealed_as.digests}) == [
        "testset 1: sample/examples/more.txt was added"
    ]


def test_samples_are_drawn_at_random(tmp_path: Path) -> None:
    """Every row is as likely as any other to be public, and two draws differ.

    1,000 draws of 3 rows of 30: each row is drawn 100 times on average, with a standard deviation
    of 9.5. A row outside 40 to 160 has a probability of less than 1e-8.
    """
    counts = [0] * 30
    for _ in range(1000):
        kept, chosen = draw_sample(30, 3)
        assert sorted([*kept, *chosen]) == list(range(30))
        for row in chosen:
            counts[row] += 1
    assert all(40 < count < 160 for count in counts)


def test_without_a_sample_there_is_none(tmp_path: Path) -> None:
    """Testsets of earlier versions have none either."""
    _, sealed_as, testset = sealed(tmp_path)
    assert testset.sample is None
    assert sealed_as.sample == 0
    assert not any(name.startswith("sample") for name in sealed_as.digests)
