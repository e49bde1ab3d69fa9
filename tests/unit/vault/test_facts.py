"""What is known of examples, from stored predictions and labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from easeci.evidence.cells import Code
from easeci.vault.facts import VerdictModels, class_warning, load_facts
from easeci.vault.intake import load_offered
from easeci.vault.paths import open_vault
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset
from tests.scripts import script
from tests.unit.vault.making import SECRET, add_labels, labelled, sealed, write, written

SCRIPT = script("n - o > 0.02 +/- 0.01")


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
    both = VerdictModels(new.name, old.name)
    codes = load_facts(testset, SCRIPT, both, sealed_as.label_files).cells
    assert codes.dtype == np.uint8
    assert dict(zip(testset.examples.ids_at(range(7)), codes, strict=True)) == expected
    alone = load_facts(testset, SCRIPT, VerdictModels(new.name), [])
    assert set(alone.cells) == {Code.AGREE_UNLABELLED}
    rows = testset.examples.rows_at([6, 2])
    assert [row["id"] for row in rows] == testset.examples.ids_at([6, 2]).to_list()
    assert all(f"e{row['x']}" == row["id"] for row in rows)


def test_values_that_never_meet_are_warnings_without_labels(tmp_path: Path) -> None:
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
    first = class_warning(testset, never.name, [str(received.file)])
    second = class_warning(testset, decimals.name, [str(numbers.file)])
    assert first is not None
    assert second is not None
    assert "ever equal to any label" in first
    assert SECRET not in first
    assert "3 and 3.0" in second
    # Deciding never fails on them: a step that is charged must be decided.
    assert len(load_facts(testset, SCRIPT, VerdictModels(never.name), [str(received.file)])) == 5
