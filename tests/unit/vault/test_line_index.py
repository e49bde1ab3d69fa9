"""Single lines of a large file: the right ones, and never of a file that was changed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.errors import InfrastructureError
from easeci.vault.line_index import LineReader, lines_of
from easeci.vault.testset import SealedTestset
from tests.unit.vault.making import sealed

pieces = st.sampled_from(
    [b"\n", b"\r", b"\r\n", b" ", b"\t", b"x", b"{}", b"\x0b", b"\x0c", "é".encode()]
)


@given(st.booleans(), st.lists(pieces, max_size=30).map(b"".join))
def test_lines_are_those_that_python_finds(marked: bool, text: bytes) -> None:
    content = (b"\xef\xbb\xbf" if marked else b"") + text
    starts, ends = lines_of(content)
    expected = [line for line in text.splitlines() if line.strip()]
    assert [content[a:b] for a, b in zip(starts, ends, strict=True)] == expected


def test_all_is_read_once_as_long_as_nothing_changes(tmp_path: Path) -> None:
    path, seen = tmp_path / "rows.jsonl", []
    path.write_text("".join(f'{{"x": {i}}}\n' for i in range(100)))
    reader = LineReader(path, lambda content: seen.append(len(content)))
    assert reader.rows([7, 3]) == [{"x": 7}, {"x": 3}]
    assert reader.rows([99, 0]) == [{"x": 99}, {"x": 0}]
    assert len(seen) == 1
    path.with_suffix(".new").write_text("".join(f'{{"x": {i + 500}}}\n' for i in range(100)))
    path.with_suffix(".new").replace(path)
    assert reader.rows([7]) == [{"x": 507}]
    assert len(seen) == 2


@pytest.mark.parametrize("way", ["in place", "replaced"])
def test_an_example_that_was_changed_is_never_shown(tmp_path: Path, way: str) -> None:
    """Also if size and time are what they were."""
    vault, sealed_as, _ = sealed(tmp_path, 50)
    testset = SealedTestset(vault, 1, sealed_as.digests)
    assert len(testset.examples.rows_at(range(50))) == 50
    path = testset.examples_folder / "examples.jsonl"
    content, times = path.read_bytes(), path.stat()
    changed = content.replace(b"text 7", b"text 8")
    if way == "in place":
        path.chmod(0o600)
        path.write_bytes(changed)
    else:
        path.unlink()
        path.write_bytes(changed)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(InfrastructureError, match="changed or damaged"):
        testset.examples.rows_at([0])
    path.write_bytes(content)
    (row,) = testset.examples.rows_at([0])
    assert str(row["id"]) == str(testset.examples.ids_at([0])[0])


def test_files_of_examples_are_verified_and_stay_inside(tmp_path: Path) -> None:
    (tmp_path / "files" / "a").mkdir(parents=True)
    for number in range(5):
        (tmp_path / "files" / "a" / f"{number}.txt").write_text(f"content {number}")
    rows = [json.dumps({"id": i, "path": f"a/{i}.txt"}) for i in range(5)]
    (tmp_path / "offered.jsonl").write_text("\n".join(rows))
    from easeci.vault.intake import load_offered
    from easeci.vault.paths import open_vault
    from easeci.vault.sealing import seal

    vault = open_vault(tmp_path / "store", "demo")
    offered = load_offered(tmp_path / "offered.jsonl", files=tmp_path / "files")
    testset = SealedTestset(vault, 1, seal(vault, 1, offered).digests)
    path = testset.examples.file_at("a/3.txt")
    assert path is not None
    assert path.read_text() == "content 3"
    for other in ("a/9.txt", "../examples.jsonl", "/etc/passwd", "a", "", "a/\0", 7, None):
        assert testset.examples.file_at(other) is None
    folder = testset.examples_folder / "files" / "a"
    (folder / "out.txt").symlink_to("/etc/passwd")
    assert testset.examples.file_at("a/out.txt") is None
    (folder / "new.txt").write_text("never sealed")
    path.chmod(0o600)
    path.write_text("CONTENT 3")
    for changed in ("a/3.txt", "a/new.txt"):
        with pytest.raises(InfrastructureError, match="changed or damaged"):
            testset.examples.file_at(changed)
