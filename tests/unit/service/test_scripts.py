"""Scripts from files and from keywords."""

from __future__ import annotations

from pathlib import Path

import pytest

import easeci


def test_scripts_from_files_and_texts(tmp_path: Path) -> None:
    text = (
        "condition: n > 0.5 +/- 0.1\nreliability: 0.9\nmode: fp-free\nadaptivity: full\nsteps: 3\n"
    )
    path = tmp_path / "script.yml"
    path.write_text(text)
    assert easeci.load_script(path) == easeci.parse_script(text)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(easeci.ScriptError, match="not UTF-8"):
        easeci.load_script(path)


def test_unknown_keys_are_refused() -> None:
    with pytest.raises(easeci.UsageError, match="unknown key 'stepz'"):
        easeci.make_script("n > 0.5 +/- 0.1", stepz=3)
    with pytest.raises(easeci.ScriptError, match="reliability"):
        easeci.make_script("n > 0.5 +/- 0.1", reliability=2)


def test_a_list_of_mounts() -> None:
    assert easeci.make_script("n > 0.5 +/- 0.1", mounts=["/a", "/b"]).mounts == ("/a", "/b")
