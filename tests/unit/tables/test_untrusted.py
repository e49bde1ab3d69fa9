"""Predictions that are made to harm: this process never parses them, and says what is wrong."""

from __future__ import annotations

import json
import math
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from easeci.errors import DataError, InfrastructureError
from easeci.tables import untrusted
from easeci.tables.column import RankKind
from easeci.tables.reading_limits import ReadingLimits
from easeci.tables.reading_process import READY, ReadingRules, limits_for, read_predictions
from easeci.tables.untrusted import load_untrusted_predictions
from tests.unit.tables import hostile
from tests.unit.vault.making import write, written

READING = """
import json, resource, sys
from pathlib import Path
import polars as pl
from easeci.errors import EaseciError
from easeci.tables.untrusted import load_untrusted_predictions
for path in map(Path, sys.argv[2:]):
    try:
        load_untrusted_predictions(path, pl.int_range(int(sys.argv[1]), eager=True))
        told = ["", ""]
    except EaseciError as error:
        told = [type(error).__name__, str(error)]
    used = [resource.getrusage(of).ru_maxrss for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps([*told, *used]))
"""


@dataclass(frozen=True)
class Read:
    """What came of reading a file; and the most memory so far, in KiB, here and in the children."""

    kind: str
    text: str
    memory: int
    childrens: int


def read_elsewhere(*paths: Path) -> list[Read]:
    """Read files one after the other in one process, whose memory can be measured."""
    done = subprocess.run(
        [sys.executable, "-c", READING, str(hostile.EXAMPLES), *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [Read(*json.loads(line)) for line in done.stdout.splitlines()]


def require_harmless(folder: Path, attacks: Sequence[Callable[[Path], Path]]) -> None:
    honest, *attacked = read_elsewhere(hostile.honest(folder), *(make(folder) for make in attacks))
    assert honest.kind == ""
    for attack, read in zip(attacks, attacked, strict=True):
        assert read.kind == "DataError", (attack.__name__, read)
        assert read.memory < 1.2 * honest.memory, (attack.__name__, read)
        assert read.childrens << 10 < limits_for(hostile.ids()).memory_bytes, (
            attack.__name__,
            read,
        )


def test_hostile_files_are_refused(tmp_path: Path) -> None:
    """This process takes no more memory than for an honest file, and the other one keeps its limit."""
    require_harmless(tmp_path, hostile.QUICK)


@pytest.mark.long
@pytest.mark.parametrize("attack", hostile.LONG, ids=lambda attack: attack.__name__)
def test_more_hostile_files_are_refused(tmp_path: Path, attack: Callable[[Path], Path]) -> None:
    """The same with files that take seconds to write or to refuse."""
    require_harmless(tmp_path, [attack])


IDS = pl.Series(["a", "b,c", "d\ne", "ü"])


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_honest_predictions_arrive_in_the_order_of_the_ids(tmp_path: Path, ending: str) -> None:
    values = ["x", "y\n", "ß😀", "x"]
    path = written(tmp_path / f"p.{ending}", {"id": IDS.reverse(), "prediction": values})
    assert load_untrusted_predictions(path, IDS).values.to_list() == values[::-1]


def test_scores_arrive_beside_predictions(tmp_path: Path) -> None:
    """If they are wanted; otherwise a file may have them, and nothing of them is read."""
    columns = {"id": IDS.reverse(), "prediction": list("xyxz"), "confidence": [0.5, 1.0, 0.25, 0.0]}
    path = written(tmp_path / "p.parquet", columns)
    read = load_untrusted_predictions(path, IDS, ranked=True)
    assert read.ranks is not None
    assert (read.ranks.kind, read.values.to_list()) == (RankKind.CONFIDENCE, list("zxyx"))
    assert read.ranks.values.to_list() == [0.0, 0.25, 1.0, 0.5]
    assert load_untrusted_predictions(path, IDS).ranks is None


def test_a_bomb_among_scores_is_refused(tmp_path: Path) -> None:
    """Where scores are wanted, their column counts as well; elsewhere it is not even unpacked."""
    ids = pl.int_range(80, eager=True)
    path = hostile.bomb(tmp_path, column="confidence")
    with pytest.raises(DataError, match="has 81 MiB when it is unpacked"):
        read_predictions(path, ids, limits_for(ids), ReadingRules(ranked=True))
    assert read_predictions(path, ids, limits_for(ids)).values.to_list() == ["a"] * 80


def test_numbers_arrive_as_text(tmp_path: Path) -> None:
    ids = pl.Series([2**63 - 1, -1, 5])
    path = written(tmp_path / "p.parquet", {"id": ids, "prediction": [-0.0, 1.5, 2.0]})
    assert load_untrusted_predictions(path, ids).values.to_list() == ["0.0", "1.5", "2.0"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.csv", "id,label\n1,a\n"),
        ("p.csv", "id;prediction\n1;a\n"),
        ("p.csv", "id,prediction\n1,a\n1,a\n"),
        ("p.csv", "id,prediction\n1,a\n2,\n3,nan\n"),
        ("p.csv", "id,prediction\n1,a\n2,b\n4,c\n"),
        ("p.csv", ""),
        ("p.csv", "id,prediction\n1,a\n".encode("utf-16")),
        ("p.jsonl", '{"id": 1, "prediction": "a"}\n{"id": "2", "prediction": "a"}\n'),
        ("p.parquet", "PAR1"),
        ("p.txt", "id,prediction\n"),
        ("gone.csv", None),
        (".", None),
        ("scored.csv", "id,prediction\n1,a\n2,b\n3,c\n"),
        ("scored.csv", "id,prediction,confidence\n1,a,1\n2,b,2\n3,c,\n"),
    ],
)
def test_every_problem_is_told_in_the_same_words(
    tmp_path: Path, name: str, content: str | bytes | None
) -> None:
    """As if the file had been read in this process."""
    path, ranked = tmp_path / name, name.startswith("scored")
    if content is not None:
        write(path, content)
    ids = pl.Series([1, 2, 3])
    with pytest.raises(DataError) as here:
        read_predictions(path, ids, limits_for(ids), ReadingRules(ranked))
    with pytest.raises(DataError) as there:
        load_untrusted_predictions(path, ids, ranked=ranked)
    assert (there.value.message, there.value.hint) == (here.value.message, here.value.hint)
    assert f"{path.parent}/" not in there.value.message, "it lies in a temporary folder"


def test_long_texts_are_counted_even_if_they_are_written_once(tmp_path: Path) -> None:
    """In Parquet, a text of many rows takes the space of one; here it would not."""
    path = tmp_path / "p.parquet"
    ids = pl.int_range(10_000, eager=True)
    pl.DataFrame({"id": ids, "prediction": ["a" * 9_000] * len(ids)}).write_parquet(path)
    with pytest.raises(DataError, match="its predictions have 86 MiB of text"):
        load_untrusted_predictions(path, ids)


# -- a reading process that was taken over


@contextmanager
def reading_with(program: str) -> Iterator[None]:
    """Another program in place of the one that reads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(untrusted, "_PROGRAM", f"import os, sys, json, time\n{program}")
        yield


def saying(answer: bytes) -> str:
    return f"os.write(1, {READY + answer!r})"


@pytest.mark.parametrize(
    "program",
    [
        saying(b""),
        saying(b"null\n"),
        saying(b"[" * 60_000),
        saying(b"9" * 60_000),
        saying(b'{"classes": 1e999}\n'),
        saying(b'{"classes": -1}\n'),
        saying(b'{"classes": 4}\n' + bytes(100)),
        saying(b'{"classes": 1}\n' + b"\1\0\0\0" * 3 + b"\1\0\0\0a"),
        saying(b'{"classes": 1}\n' + bytes(12) + b"\xff\xff\xff\xffa"),
        saying(b'{"classes": 1}\n' + bytes(12) + b"\1\0\0\0\xff"),
        saying(b'{"classes": 1}\n' + bytes(12) + b"\3\0\0\0\xed\xa0\x80"),
        saying(b'{"message": "no hint"}\n'),
        saying(b'{"classes": 1}\n') + "; os.truncate(1, 1 << 33)",
        saying(b"") + "; os._exit(1)",
        saying(b"") + "; os.abort()",
    ],
)
def test_a_reading_process_is_not_believed(tmp_path: Path, program: str) -> None:
    with reading_with(program), pytest.raises(DataError):
        load_untrusted_predictions(tmp_path / "p.csv", pl.Series([1, 2, 3]))


ONE_CLASS = bytes(12) + b"\1\0\0\0a"


@pytest.mark.parametrize(
    ("kind", "scores"),
    [
        ("null", struct.pack("<3d", 0, 0.5, 1)),
        ('"other"', struct.pack("<3d", 0, 0.5, 1)),
        ("[]", struct.pack("<3d", 0, 0.5, 1)),
        ('"confidence"', struct.pack("<3d", 0, 0.5, 1.5)),
        ('"confidence"', struct.pack("<3d", 0, math.nan, 1)),
        ('"confidence"', struct.pack("<3d", 0, math.inf, 1)),
        ('"confidence"', struct.pack("<2d", 0, 1)),
    ],
)
def test_its_scores_are_not_believed(tmp_path: Path, kind: str, scores: bytes) -> None:
    path, ids = tmp_path / "p.csv", pl.Series([1, 2, 3])
    line = f'{{"classes": 1, "ranks": {kind}}}\n'.encode()
    with reading_with(saying(line + scores + ONE_CLASS)), pytest.raises(DataError):
        load_untrusted_predictions(path, ids, ranked=True)


def test_scores_that_can_be_believed(tmp_path: Path) -> None:
    """The answers above, but for their mistakes."""
    line = b'{"classes": 1, "ranks": "confidence"}\n' + struct.pack("<3d", 0, 0.5, 1)
    with reading_with(saying(line + ONE_CLASS)):
        read = load_untrusted_predictions(tmp_path / "p.csv", pl.Series([1, 2, 3]), ranked=True)
    assert read.values.to_list() == ["a", "a", "a"]


@pytest.mark.parametrize("program", ["", "os._exit(1)", saying(b"") + "; os.kill(os.getpid(), 9)"])
def test_a_process_that_does_not_start_is_not_the_fault_of_the_file(
    tmp_path: Path, program: str
) -> None:
    with reading_with(program), pytest.raises(InfrastructureError, match="did not start"):
        load_untrusted_predictions(tmp_path / "p.csv", pl.Series([1, 2, 3]))


def test_a_process_that_does_not_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With everything that it started."""
    note = tmp_path / "pid"
    monkeypatch.setattr(ReadingLimits, "elapsed_seconds", 1)
    waiting = f"""
if not (pid := os.fork()):
    time.sleep(1000)
open({str(note)!r}, "w").write(str(pid))
time.sleep(1000)
"""
    with reading_with(saying(b"") + waiting), pytest.raises(DataError, match="more than 1 s"):
        load_untrusted_predictions(tmp_path / "p.csv", pl.Series([1, 2, 3]))
    if note.exists():  # on a very busy machine it may not have come that far
        assert not Path("/proc", note.read_text(), "exe").exists()


def test_the_process_gets_nothing_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment, no open files, not our terminal's session, not our folder."""
    monkeypatch.setenv("EASECI_SECRET", "secret")
    tell = """
found = [sorted(os.environ), sorted(map(int, os.listdir("/proc/self/fd"))), os.getcwd(), os.getsid(0)]
os.write(1, (json.dumps({"message": json.dumps(found), "hint": None}) + "\\n").encode())
"""
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        with reading_with(saying(b"") + tell), pytest.raises(DataError) as caught:
            load_untrusted_predictions(tmp_path / "p.csv", pl.Series([1, 2, 3]))
    environment, descriptors, folder, session = json.loads(caught.value.message)
    assert set(environment) <= {"LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "POLARS_MAX_THREADS"}
    assert descriptors == [0, 1, 2, 3]  # the last one lists the others
    assert folder == "/"
    assert session != os.getsid(0)


@pytest.mark.parametrize("direct", [True, False])
def test_missing_ids_are_only_named_to_readers_who_know_them(tmp_path: Path, direct: bool) -> None:
    """A sender may learn how many are missing, and which of the file's own ids are too many."""
    (tmp_path / "p.csv").write_text("id,prediction\na,x\nmine,x\n")
    ids = pl.Series(["a", "secret1", "secret2"])
    with pytest.raises(DataError) as refused:
        if direct:
            rules = ReadingRules(name_missing=False)
            read_predictions(tmp_path / "p.csv", ids, limits_for(ids), rules)
        else:
            load_untrusted_predictions(tmp_path / "p.csv", ids, name_missing=False)
    assert refused.value.message == (
        "p.csv lacks ids of the testset: 2; ids that it has too many: 1, first mine"
    )
    with pytest.raises(DataError, match="secret1"):
        load_untrusted_predictions(tmp_path / "p.csv", ids)
