"""A bare repository of the owner's account that a developer's account pushes to."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.accounts import Account
from tests.commands import COMMAND
from tests.repositories import Workplace, write_examples


@dataclass(frozen=True)
class Shared:
    """The owner's bare repository, which a developer of another account may push to."""

    folder: Path
    owner: Account
    developer: Account

    @property
    def bare(self) -> Path:
        return self.folder / "srv" / "shared.git"

    @property
    def clone(self) -> Path:
        return self.developer.home / "model"

    @contextmanager
    def watching(self) -> Iterator[subprocess.Popen[str]]:
        options = ("--interval", "0.2")
        process = self.owner.start(COMMAND, "watch", *options, folder=self.bare)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def commit(self, cut: float) -> str:
        """A commit of the developer's, not pushed yet."""
        model = f'def predict(row):\n    return "low" if float(row["x"]) < {cut} else "high"\n'
        self.developer.run(
            "sh", "-ec", 'printf %s "$1" > model.py; git add -A; git commit -qm "$2"', "sh",
            model, f"cut at {cut}", folder=self.clone,
        )  # fmt: skip
        return self.developer.git("rev-parse", "HEAD", folder=self.clone).strip()

    def push(self, *arguments: str, wait: float = 100.0) -> str:
        return self.developer.git("push", "origin", *arguments, folder=self.clone, wait=wait)

    def log(self) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = json.loads(
            self.owner.easeci("log", "--json", folder=self.bare)
        )
        return rows


def share(folder: Path, owner: Account, developer: Account, **keys: str) -> Shared:
    shared = Shared(folder, owner, developer)
    place = Workplace.make(folder / "made", **keys)
    place.commit_cut(0.7)
    write_examples(place.examples, place.labels)
    srv = folder / "srv"
    srv.mkdir()
    srv.chmod(0o777)
    owner.git("init", "-q", "--bare", "--shared=group", "-b", "main", str(shared.bare), folder=srv)
    srv.chmod(0o755)
    script = ("--script", str(place.repository / ".easeci.yml"))
    files = (str(place.examples), "--labels", str(place.labels))
    owner.easeci("testset", "add", *files, *script, folder=shared.bare)
    said = owner.easeci("hook", "install", folder=shared.bare)
    assert "easeci watch" in said
    developer.git("clone", "-q", str(place.repository), "model", folder=developer.home)
    developer.git("remote", "set-url", "origin", str(shared.bare), folder=shared.clone)
    for path in (place.examples, place.labels):  # both are the owner's; nobody else has them
        path.unlink()
    return shared
