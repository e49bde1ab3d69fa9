"""Scripts from files and from keywords."""

from __future__ import annotations

from pathlib import Path

import pytest

import easeci
from easeci.script import parse_entries
from easeci.service.scripts import find_script, script_document, write_new_script
from tests.cases import each_case


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


def test_a_script_is_found_upwards_and_never_above_the_repository(tmp_path: Path) -> None:
    top, deep = tmp_path / "repository", tmp_path / "repository" / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / ".easeci.yml").touch()
    (top / ".git").mkdir()
    with pytest.raises(easeci.UsageError, match="there is no script here"):
        find_script(deep)
    (top / ".travis.yml").touch()
    assert find_script(deep) == top / ".travis.yml"
    (top / ".easeci.yml").touch()
    assert find_script(deep) == top / ".easeci.yml", "our own file comes first"


def test_outside_a_repository_only_the_folder_itself_is_searched(tmp_path: Path) -> None:
    (tmp_path / ".easeci.yml").touch()
    (tmp_path / "below").mkdir()
    assert find_script(tmp_path) == tmp_path / ".easeci.yml"
    with pytest.raises(easeci.UsageError, match="there is no script here"):
        find_script(tmp_path / "below")


@each_case("text", ["n > 0.5 +/- 0.1", "yes: no", "# nothing", "[a, b]", "ä 'b' \"c\"", "- a", "%"])
def test_a_text_to_copy_reads_as_it_was_written(text: str) -> None:
    """Whatever YAML would make of it without quotes."""
    document = script_document({"condition": "n > 0.5 +/- 0.1", "email": text})
    assert parse_entries(document, "here")["email"].texts == (text,)


def test_a_script_is_replaced_only_on_purpose(tmp_path: Path) -> None:
    path = tmp_path / ".easeci.yml"
    write_new_script(path, "one", overwrite=False)
    with pytest.raises(easeci.UsageError, match="exists already"):
        write_new_script(path, "two", overwrite=False)
    assert path.read_text() == "one"
    write_new_script(path, "two", overwrite=True)
    assert path.read_text() == "two"
