"""Whatever is changed in a store is found by ``log --verify``."""

from __future__ import annotations

import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from easeci.errors import EaseciError
from easeci.service.custody.verify import verify
from easeci.service.project import open_project
from tests.repositories import Workplace

FLIPS_PER_FILE = 6
FLIPS_IN_DATABASE = 150


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A project with labels, a baseline, a pass, a fail and a broken build."""
    place = Workplace.make(tmp_path_factory.mktemp("lived"))
    place.commit_cut(0.7)
    place.add_testset()
    place.easeci("run", code=0)
    place.commit_cut(0.75)
    place.easeci("run", code=1)
    place.write("model.py", "print('a secret of the examples')\nraise SystemExit(1)\n")
    place.commit("broken")
    place.easeci("run", code=5)
    place.commit_cut(0.52)
    place.easeci("run", code=0)
    return place


def store_of(place: Workplace) -> Path:
    return place.repository / ".easeci"


def found(place: Workplace) -> list[str]:
    """What verification finds, an error included."""
    try:
        return verify(open_project(place.repository))
    except EaseciError as error:
        return [str(error)]


@pytest.fixture
def copy(lived: Workplace, tmp_path: Path) -> Workplace:
    shutil.copytree(lived.folder, tmp_path / "copy", symlinks=True)
    return Workplace(tmp_path / "copy")


def test_an_untouched_store_is_sound(lived: Workplace) -> None:
    assert found(lived) == []
    lived.easeci("log", "--verify", code=0)


def files_of(store: Path) -> list[Path]:
    return sorted(p for p in store.rglob("*") if p.is_file() and p.stat().st_size)


def test_a_flipped_bit_in_any_file_is_found(copy: Workplace) -> None:
    """In several places of every file but the database, which has free space."""
    store = store_of(copy)
    chosen = random.Random(1)
    files = [path for path in files_of(store) if path.name != "ledger.db"]
    kinds = {path.parent.name for path in files}
    assert {"examples", "labels", "predictions", "logs", "archives"} <= kinds
    for path in files:
        content = path.read_bytes()
        for _ in range(FLIPS_PER_FILE):
            position, bit = chosen.randrange(len(content)), 1 << chosen.randrange(8)
            changed = bytearray(content)
            changed[position] ^= bit
            path.write_bytes(changed)
            assert found(copy), f"{path.relative_to(store)}, byte {position}"
        path.write_bytes(content)
    assert found(copy) == []


def rows_of(path: Path) -> object:
    with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as connection:
        return [
            connection.execute(f"SELECT * FROM {table}").fetchall()
            for table in ("project", "event", "alembic_version")
        ]


@pytest.mark.long
def test_a_flipped_bit_in_the_database_is_found_unless_it_says_nothing(copy: Workplace) -> None:
    """Bytes that hold no value (free space of a page) may change; what is stored may not."""
    path = store_of(copy) / "ledger" / "ledger.db"
    content, chosen, missed = path.read_bytes(), random.Random(2), 0
    before = rows_of(path)
    for _ in range(FLIPS_IN_DATABASE):
        changed = bytearray(content)
        position = chosen.randrange(len(content))
        changed[position] ^= 1 << chosen.randrange(8)
        path.write_bytes(changed)
        if not found(copy):
            missed += 1
            assert rows_of(path) == before, f"byte {position}"
    path.write_bytes(content)
    assert FLIPS_IN_DATABASE - missed >= 20, "most of these flips would say nothing of the rest"
    assert found(copy) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET text = replace(text, 'false', 'true') WHERE kind = 'Decided'",
        "UPDATE event SET at = '2020-01-01T00:00:00Z' WHERE number = 3",
        "DELETE FROM event WHERE number = (SELECT max(number) FROM event)",
        "DELETE FROM event WHERE kind = 'Charged'",
        "UPDATE project SET head_number = head_number - 1",
        "DELETE FROM event",
        "UPDATE event SET code = (SELECT code FROM event WHERE number = 1)",
    ],
)
def test_a_changed_record_is_found(copy: Workplace, statement: str) -> None:
    with sqlite3.connect(store_of(copy) / "ledger" / "ledger.db") as connection:
        assert connection.execute(statement).rowcount > 0
    assert found(copy)


def test_a_label_that_is_exchanged_is_found(copy: Workplace) -> None:
    """Also if the file is a valid one with other labels."""
    import polars as pl

    path = next((store_of(copy)).rglob("labels/0001.parquet"))
    frame = pl.read_parquet(path)
    frame.with_columns(pl.col("label").reverse()).write_parquet(path)
    assert found(copy)
    copy.commit_cut(0.5)
    done = copy.easeci("run", code=6)
    assert "changed or damaged" in done.stderr


def test_a_lost_key_is_said(copy: Workplace) -> None:
    (store_of(copy) / "key").unlink()
    for command in (("log", "--verify"), ("status",), ("run",), ("testset", "add", "x.csv")):
        done = copy.easeci(*command, code=6)
        assert "the key of the store" in done.stderr
        assert "is lost" in done.stderr
        assert "backup" in done.stderr


def test_the_command_lists_what_is_damaged(copy: Workplace) -> None:
    path = next(store_of(copy).rglob("order.npy"))
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    done = copy.easeci("log", "--verify", code=6)
    assert "order.npy was changed" in done.stdout
    assert "Restore" in done.stderr
