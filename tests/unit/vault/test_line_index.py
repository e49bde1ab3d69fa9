"""Single lines of a large file: the right ones, and never of a file that was changed."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from easeci.vault.line_index import LineReader, lines_of

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
