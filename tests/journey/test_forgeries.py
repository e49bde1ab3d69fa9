"""A developer forges objects in the shared repository, and gets no signal for them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.accounts import ROOT, Account
from tests.forgeries import object_content
from tests.journey.sharing import Shared, share
from tests.repositories import MODEL

FORGE = """
import shutil, sys
from pathlib import Path
from tests.forgeries import forge_loose, loose_path
git_dir, name, kind, content = Path(sys.argv[1]), *sys.argv[2:5]
path = loose_path(git_dir, name)
shutil.copyfile(path, sys.argv[5])
forge_loose(git_dir, name, kind, Path(content).read_bytes())
"""
MEND = """
import shutil, sys
from pathlib import Path
from tests.forgeries import loose_path
path = loose_path(Path(sys.argv[1]), sys.argv[2])
path.unlink()
shutil.copy(sys.argv[3], path)
"""


class Forger:
    """The developer, who may write to the repository's objects as every push does."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.sound = shared.developer.home / "sound"

    def python(self, script: str, *arguments: str) -> None:
        command = [sys.executable, "-c", script, str(self.shared.bare), *arguments]
        self.shared.developer.run(*command, folder=self.shared.developer.home, PYTHONPATH=str(ROOT))

    def name_of(self, revision: str) -> str:
        return self.shared.developer.git("rev-parse", revision, folder=self.shared.clone).strip()

    def forge(self, revision: str, kind: str, content: bytes) -> str:
        """Write content under the name of an object; the name."""
        name = self.name_of(revision)
        given = self.shared.folder / "forged"
        given.write_bytes(content)
        given.chmod(0o644)
        self.python(FORGE, name, kind, str(given), str(self.sound))
        return name

    def mend(self, name: str) -> None:
        """Put the true object back."""
        self.python(MEND, name, str(self.sound))


def told(shared: Shared, commit: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(
        (shared.bare / "easeci" / "results" / commit).read_text("utf-8")
    )
    return result


@pytest.mark.root
@pytest.mark.long
def test_no_signal_is_given_for_what_is_never_delivered(
    accounts: tuple[Path, Account, Account],
) -> None:
    """A better model under the name of a bad one would pass, and a clone would get the bad one.

    Nothing is charged or remembered: when the true object is back, the commit gets its own signal.
    """
    shared = share(*accounts)
    forger = Forger(shared)
    shared.push("main", wait=0)
    shared.owner.easeci("watch", "--once", folder=shared.bare)
    bad = shared.commit(0.72)
    shared.push("main", wait=0)
    better = MODEL.format(cut=0.52).encode()
    name = forger.forge("HEAD:model.py", "blob", better)
    # The control: the owner's git believes the forgery.
    read = shared.owner.git("show", f"{bad}:model.py", folder=shared.bare)
    assert read.encode() == better
    said = shared.owner.easeci("watch", "--once", folder=shared.bare)
    assert (
        f"not tested: the repository holds forged or damaged objects of commit {bad[:10]}" in said
    )
    assert told(shared, bad)["signal"] is None
    assert "forged or damaged" in told(shared, bad)["untested"]
    assert not any((shared.bare / "easeci" / "drop").iterdir())  # it is not tried for ever
    forger.mend(name)
    shared.owner.run(sys.executable, "-m", "easeci", "run", bad, folder=shared.bare, code=1)
    assert [row["signal"] for row in shared.log()] == ["baseline", "fail"]


@pytest.mark.long
@pytest.mark.root
def test_forged_trees_and_commits_are_not_tested_either(
    accounts: tuple[Path, Account, Account],
) -> None:
    """A tree that names better files, or a commit that names another tree."""
    shared = share(*accounts)
    forger = Forger(shared)
    shared.push("main", wait=0)
    shared.owner.easeci("watch", "--once", folder=shared.bare)
    for cut, kind, part in ((0.52, "tree", "model.py"), (0.53, "commit", "")):
        shared.commit(cut)
        shared.push("main:refs/heads/elsewhere", wait=0)  # its objects are there
        bad = shared.commit(cut + 0.2)
        shared.push("main", wait=0)
        true, false = (forger.name_of(f"{revision}:{part}") for revision in ("HEAD", "HEAD~1"))
        content = object_content(shared.clone, kind, f"HEAD^{{{kind}}}")
        if kind == "tree":
            forged = content.replace(bytes.fromhex(true), bytes.fromhex(false))
        else:
            forged = content.replace(true.encode(), false.encode())
        assert forged != content
        name = forger.forge(f"HEAD^{{{kind}}}", kind, forged)
        said = shared.owner.easeci("watch", "--once", folder=shared.bare)
        assert f"forged or damaged objects of commit {bad[:10]}" in said
        assert told(shared, bad)["signal"] is None
        forger.mend(name)
    assert [row["signal"] for row in shared.log()] == ["baseline"]
