"""Find a script in a folder, read it from a file, make it from keywords, write a new one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from easeci.errors import ScriptError, UsageError
from easeci.script import KEYS, Entry, Script, assemble, parse_entries

SCRIPT_FILES = (".easeci.yml", ".travis.yml")
DEFAULTS = {"reliability": "0.9999", "mode": "fp-free", "adaptivity": "full", "steps": "32"}
"""The keys of a condition that is given without a script."""


def find_script(folder: Path) -> Path:
    """The script file of a folder."""
    for place in _upwards(folder):
        for name in SCRIPT_FILES:
            if (place / name).exists():
                return place / name
    raise UsageError(
        f"there is no script here: neither {' nor '.join(SCRIPT_FILES)}",
        hint='`easeci init` writes one; or give a condition, such as -c "n > 0.8 +/- 0.05".',
    )


def _upwards(folder: Path) -> Iterator[Path]:
    """The folder and its parents, up to the top of the repository that contains it."""
    above = [folder, *folder.absolute().parents]
    tops = [place for place in above if (place / ".git").exists()]
    for place in above:
        yield place
        if not tops or (place / ".git").exists():
            return


def load_entries(path: Path) -> dict[str, Entry]:
    """The keys of a script file, as texts with their places."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder, not a script") from None
    except UnicodeDecodeError:
        raise ScriptError(f"{path} is not UTF-8 text", hint="Save it as UTF-8.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    return parse_entries(text, str(path))


def load_script(path: str | Path) -> Script:
    """The script in a YAML file: its ``ml:`` section, or the keys at its top."""
    return assemble(load_entries(Path(path)), str(path))


def make_script(condition: str, **keys: object) -> Script:
    """A script from a condition and any of the keys of a script file.

    >>> make_script("n - o > 0.02 +/- 0.01", reliability=0.9999, steps=32).steps
    32

    Keys that are left out: reliability 0.9999, mode fp-free, adaptivity full, steps 32.
    """
    names = [key.name for key in KEYS]
    entries = {name: Entry.option(name, text) for name, text in DEFAULTS.items()}
    entries["condition"] = Entry.option("condition", condition)
    for name, value in keys.items():
        if name not in names:
            raise UsageError(f"unknown key '{name}'", hint=f"Keys: {', '.join(names)}.")
        texts = [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]
        entries[name] = Entry.options(name, texts)
    return assemble(entries)


def script_document(texts: Mapping[str, str]) -> str:
    """A script file with these texts of keys, for users to copy."""
    lines = ["ml:", *(f"  - {name}: {_scalar(text)}" for name, text in texts.items())]
    return "\n".join(lines) + "\n"


PLAIN = re.compile(r"-?[A-Za-z0-9.(][A-Za-z0-9.()%+*/\\<>= _@-]*", re.ASCII)
"""A text that YAML reads literally: it has no character that means something in YAML."""


def _scalar(text: str) -> str:
    """A text in YAML: plain if possible, otherwise quoted as in JSON, which is YAML too."""
    return text if PLAIN.fullmatch(text) else json.dumps(text)


def write_new_script(path: Path, text: str, *, overwrite: bool) -> None:
    """Write a script file; replaces an existing one only with ``overwrite``."""
    try:
        with path.open("w" if overwrite else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(
            f"{path} exists already", hint="Edit it, or use --force to replace it."
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
