"""Refuse editable installs: with one, a program imports the work tree and not its commit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlparse

from easeci.errors import UsageError

SITES = ("lib/python3*/site-packages", "lib64/python3*/site-packages", "lib/python3*/dist-packages")


def refuse_editable(prefixes: Sequence[Path], top: Path) -> None:
    """Raise if a Python that the program sees has a library installed out of the repository."""
    for prefix in prefixes:
        sites = {site.resolve() for pattern in SITES for site in prefix.glob(pattern)}
        for site in sorted(sites):
            for name, target in _links(site, top):
                inside = target.resolve().is_relative_to(top)
                if inside and not target.resolve().is_relative_to(prefix.resolve()):
                    raise UsageError(
                        f"{name} is installed as editable from the repository: {target}",
                        hint="The program would test the work tree and not its commit. Install it "
                        "as a copy (pip install . without -e), or remove it and let the program "
                        "import it from its checkout.",
                    )


def _links(site: Path, top: Path) -> Iterator[tuple[str, Path]]:
    """What leads out of a folder of libraries: the name of the library, and where it leads."""
    try:
        found = list(site.iterdir())
    except PermissionError:  # then no Python of this account can import from it
        return
    for path in found:
        if path.is_symlink():
            yield path.name, path
        elif path.suffix in (".pth", ".egg-link"):
            yield from _lines(path, site, top)
        elif path.suffix == ".py" and "editable" in path.name:
            yield from _mentions(path, top)
        elif path.suffix == ".dist-info":
            yield from _direct(path)


def _lines(path: Path, site: Path, top: Path) -> Iterator[tuple[str, Path]]:
    for line in _text(path).splitlines():
        if line.startswith(("import ", "import\t")):
            yield from _mentions(path, top)
        elif line.strip() and not line.startswith("#"):
            yield _plain_name(path), site / line.strip()


def _mentions(path: Path, top: Path) -> Iterator[tuple[str, Path]]:
    """Generated finders hold the paths of their packages as quoted text."""
    for quoted in re.findall(r"""["'](/[^"'\n]*)["']""", _text(path)):
        if Path(quoted).is_relative_to(top):
            yield _plain_name(path), Path(quoted)


def _direct(folder: Path) -> Iterator[tuple[str, Path]]:
    with suppress(ValueError, AttributeError):
        record = json.loads(_text(folder / "direct_url.json") or "{}")
        url = urlparse(str(record.get("url", "")))
        if url.scheme == "file" and record.get("dir_info", {}).get("editable"):
            yield folder.name.split("-")[0], Path(unquote(url.path))


def _plain_name(path: Path) -> str:
    name = re.sub(r"^_*editable_*(impl_)?|_*finder$", "", path.stem.strip("_."))
    return re.split(r"[-._]\d", name.strip("_."))[0] or path.name


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
