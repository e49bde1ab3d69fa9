"""A checkout is the commit's tree and nothing else; an archive of it comes back the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from easeci.build.checkout import checkout
from easeci.build.repository import Repository
from easeci.errors import BuildError
from tests.file_systems import in_small_file_system
from tests.integration.build.trees import tree
from tests.sandbox.building import commit_files, fetched, git, new_repository


def test_a_checkout_is_the_commit(repository: Repository, folder: Path, tmp_path: Path) -> None:
    """Not the work tree, not the index; run bits and links are kept, and nothing is left out."""
    (folder / "sub").mkdir()
    (folder / "sub" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "sub" / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("/etc/passwd")
    commit_files(folder, __gitattributes="secret.txt export-ignore\n", secret__txt="kept\n")
    status = git(folder, "status", "--porcelain")
    (folder / "model.py").write_text("changed\n")
    (folder / "untracked").write_text("x")
    git(folder, "add", "model.py")
    index = (folder / ".git" / "index").read_bytes()
    checkout(fetched(repository, repository.resolve("HEAD")), tmp_path / "out")
    assert tree(tmp_path / "out") == {
        ".gitattributes": ("file", b"secret.txt export-ignore\n"),
        "link": ("link", "/etc/passwd"),
        "model.py": ("file", b"second = 2\n"),
        "secret.txt": ("file", b"kept\n"),
        "sub/run.sh": ("run", b"#!/bin/sh\n"),
    }
    assert (folder / ".git" / "index").read_bytes() == index
    assert status == ""


def test_attributes_of_the_commit_hold(
    repository: Repository, folder: Path, tmp_path: Path
) -> None:
    """They are part of the tree, and hold for files that come before them, too."""
    files = {"!first.txt": "a\n", "sub/lines.txt": "a\n", "sub/.gitattributes": "*.txt eol=lf\n"}
    (folder / "sub").mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    commit = commit_files(folder, __gitattributes="*.txt text eol=crlf\n*.py ident\n")
    checkout(fetched(repository, commit), tmp_path / "out")
    assert (tmp_path / "out" / "!first.txt").read_bytes() == b"a\r\n"
    assert (tmp_path / "out" / "sub" / "lines.txt").read_bytes() == b"a\n"


def test_filters_and_hooks_never_run(
    repository: Repository, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the repository's settings nor the owner's touch what is checked out."""
    trap = tmp_path / "trapped"
    commit_files(folder, __gitattributes="*.py filter=evil\n")
    home = tmp_path / "home"
    home.mkdir()
    settings = f'[filter "evil"]\n smudge = touch {trap}; cat\n[core]\n autocrlf = true\n'
    (home / ".gitconfig").write_text(settings)
    with (folder / ".git" / "config").open("a") as config:
        config.write(settings)
    hook = folder / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {trap}\n")
    hook.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    checkout(fetched(repository, repository.resolve("HEAD")), tmp_path / "out")
    assert (tmp_path / "out" / "model.py").read_bytes() == b"second = 2\n"
    assert not trap.exists()


def test_replaced_objects_are_not_believed(
    repository: Repository, folder: Path, tmp_path: Path
) -> None:
    """A commit's id stands for its own tree, whatever git was told to show instead."""
    head, first = repository.resolve("HEAD"), repository.resolve("HEAD~1")
    git(folder, "replace", head, first)
    checkout(fetched(repository, head), tmp_path / "out")
    assert (tmp_path / "out" / "model.py").read_bytes() == b"second = 2\n"


def test_submodules_are_named(repository: Repository, folder: Path, tmp_path: Path) -> None:
    library = new_repository(tmp_path / "library")
    commit_files(library, "A library")
    source = str(library)
    git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "lib")
    commit = commit_files(folder, "With a submodule")
    with pytest.raises(BuildError, match="'lib' is a submodule") as raised:
        checkout(fetched(repository, commit), tmp_path / "out")
    assert "git subtree" in str(raised.value)


def test_pointers_of_lfs_are_named(repository: Repository, folder: Path, tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 9\n"
    commit = commit_files(folder, weights__bin=pointer)
    with pytest.raises(BuildError, match=r"'weights\.bin' is kept with Git LFS") as raised:
        checkout(fetched(repository, commit), tmp_path / "out")
    assert "mounts:" in str(raised.value)


def test_trees_without_end_are_refused(
    repository: Repository, folder: Path, tmp_path: Path
) -> None:
    """A few objects can stand for a billion files, each folder holding the next one ten times."""
    blob = git(folder, "rev-parse", "HEAD:model.py")
    entries = "".join(f"100644 blob {blob}\tf{n}\n" for n in range(10))
    for _ in range(9):
        inner = made_tree(folder, entries)
        entries = "".join(f"040000 tree {inner}\td{n}\n" for n in range(10))
    bomb = git(folder, "commit-tree", "-m", "A bomb", inner)
    with pytest.raises(BuildError, match="more than 500,000 files"):
        checkout(fetched(repository, bomb), tmp_path / "out")


def test_folders_without_end_are_refused(
    repository: Repository, folder: Path, tmp_path: Path
) -> None:
    """No file is in any of them, so a list of files would never begin."""
    inner = made_tree(folder, "")
    for _ in range(9):
        inner = made_tree(folder, "".join(f"040000 tree {inner}\td{n}\n" for n in range(10)))
    bomb = git(folder, "commit-tree", "-m", "A bomb", inner)
    with pytest.raises(BuildError, match="more than 500,000 files and folders"):
        checkout(fetched(repository, bomb), tmp_path / "out")


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("n" * 300, "a name of more than 255 bytes"),
        ("ü" * 128, "a name of more than 255 bytes"),
        ("/".join(["d" * 200] * 16), "a path of more than 3,000 bytes"),
        ("/".join("d" * 101), "a file more than 100 folders deep"),
    ],
)
def test_paths_that_no_folder_can_hold_are_the_commits_fault(
    repository: Repository, folder: Path, tmp_path: Path, path: str, what: str
) -> None:
    """Exit 5, and the path is named, though not at its full length."""
    commit = commit_of_path(folder, path)
    with pytest.raises(BuildError, match=what) as raised:
        checkout(fetched(repository, commit), tmp_path / "out")
    assert path[:100] in raised.value.message
    assert len(raised.value.message) < 200
    assert "Rename" in str(raised.value)


@pytest.mark.parametrize("name", ["link", "No space left on device", "a\nfatal: Out of memory"])
@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("", "a link with no target"),
        ("t" * 5000, "a link with a target of more than 4,095 bytes"),
        ("\0", "the commit cannot be checked out"),  # its length tells nothing: git finds out
    ],
)
def test_links_that_cannot_be_made_are_the_commits_fault(
    repository: Repository, folder: Path, tmp_path: Path, name: str, target: str, what: str
) -> None:
    """Every file system refuses them, and no name makes that look like a broken machine."""
    commit = commit_of_path(folder, name, mode="120000", content=target)
    with pytest.raises(BuildError, match=what):
        checkout(fetched(repository, commit), tmp_path / "out")


FILLS_UP = """
from pathlib import Path
from easeci.build import checkout
from easeci.build.fetch import FetchedCommit
from easeci.errors import EaseciError

if {meanwhile}:
    checkout.require_room = lambda *_: None
try:
    checkout.checkout(FetchedCommit({id!r}, Path({git_dir!r})), Path({place!r}) / "out")
except EaseciError as error:
    print(type(error).__name__, error.message)
"""


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_full_disk_is_not_the_commits_fault(
    repository: Repository, folder: Path, tmp_path: Path, meanwhile: bool
) -> None:
    """Exit 6: the same commit may be checked out later. The disk may fill up while git writes."""
    commit = fetched(repository, commit_files(folder, large__bin="x" * 2**21))
    place = tmp_path / "place"
    program = FILLS_UP.format(
        meanwhile=meanwhile, id=commit.id, git_dir=str(commit.git_dir), place=str(place)
    )
    (tmp_path / "empty").mkdir()
    said = in_small_file_system(tmp_path / "empty", place, "", program)
    assert said.startswith("InfrastructureError the commit cannot be checked out: the disk is full")


def made_tree(folder: Path, entries: str, *options: str) -> str:
    """The id of a tree with these entries, which git writes without checking their names."""
    command = ["git", "mktree", "--missing", *options]
    done = subprocess.run(
        command, cwd=folder, input=entries, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit_of_path(folder: Path, path: str, mode: str = "100644", content: str = "x") -> str:
    """A commit of one file, which never was in a work tree."""
    (folder.parent / "content").write_text(content)
    blob = git(folder, "hash-object", "-w", str(folder.parent / "content"))
    *folders, name = path.split("/")
    inner = made_tree(folder, f"{mode} blob {blob}\t{name}\0", "-z")
    for above in reversed(folders):
        inner = made_tree(folder, f"040000 tree {inner}\t{above}\n")
    return git(folder, "commit-tree", "-m", "Odd", inner)
