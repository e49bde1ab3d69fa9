"""What is fetched is what its name says: forged and damaged objects never get through."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from easeci.build import fetch
from easeci.build import git as easeci_git
from easeci.build.checkout import checkout
from easeci.build.fetch import FetchedCommits
from easeci.build.repository import DamagedCommitError, Repository
from easeci.errors import BuildError, EaseciError, InfrastructureError, UsageError
from tests.forgeries import forge_loose, forge_packed, loose_path, object_content
from tests.sandbox.building import commit_files, git, new_repository
from tests.waiting import wait_until

TRUE, FORGED = b"second = 2\n", b"second = 3\n"


@pytest.fixture
def own(tmp_path: Path) -> FetchedCommits:
    return FetchedCommits(tmp_path / "own")


def forge(folder: Path, what: str) -> str:
    """Forge an object of HEAD; its name."""
    git_dir = folder / ".git"
    if what in ("blob", "packed blob"):
        name = git(folder, "rev-parse", "HEAD:model.py")
        if what == "blob":
            forge_loose(git_dir, name, "blob", FORGED)
        else:
            loose_path(git_dir, name).unlink()
            forge_packed(git_dir, name, FORGED)
    elif what == "tree":
        name = git(folder, "rev-parse", "HEAD^{tree}")
        forge_loose(git_dir, name, "tree", object_content(git_dir, "tree", "HEAD~1"))
    else:
        name = git(folder, "rev-parse", "HEAD")
        other = object_content(git_dir, "commit", "HEAD").replace(b"The second", b"Another")
        forge_loose(git_dir, name, "commit", other)
    return name


@pytest.mark.parametrize("what", ["blob", "packed blob", "tree", "commit"])
def test_forged_objects_are_refused(
    repository: Repository, folder: Path, own: FetchedCommits, what: str
) -> None:
    """git itself believes a forged blob; nothing is left of the fetch; repaired, it succeeds."""
    head = repository.resolve("HEAD")
    shutil.copytree(folder / ".git" / "objects", folder.parent / "sound")
    forge(folder, what)
    if what.endswith("blob"):  # the control: without a fetch, the forgery is read
        assert git(folder, "show", f"{head}:model.py") == FORGED.decode().strip()
    with pytest.raises(DamagedCommitError, match="forged or damaged objects of commit"):
        own.fetch(repository, head)
    assert own.get(head) is None
    assert list(own.folder.iterdir()) == []
    shutil.rmtree(folder / ".git" / "objects")
    shutil.move(folder.parent / "sound", folder / ".git" / "objects")
    assert own.fetch(repository, head).read("model.py").file == TRUE


@pytest.mark.parametrize("damage", [b"junk", b""])
@pytest.mark.parametrize("what", ["HEAD", "HEAD^{tree}", "HEAD:model.py"])
def test_damaged_objects_are_refused(
    repository: Repository, folder: Path, own: FetchedCommits, what: str, damage: bytes
) -> None:
    head, name = repository.resolve("HEAD"), git(folder, "rev-parse", what)
    path = loose_path(folder / ".git", name)
    path.unlink()
    path.write_bytes(damage)
    with pytest.raises(DamagedCommitError):
        own.fetch(repository, head)
    path.unlink()
    with pytest.raises(DamagedCommitError):
        own.fetch(repository, head)


@pytest.mark.parametrize("what", ["HEAD", "HEAD:model.py"])
def test_a_pipe_in_place_of_an_object_holds_nobody_up(
    repository: Repository,
    folder: Path,
    own: FetchedCommits,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
) -> None:
    """git waits for a writer of the pipe, which never comes; it is ended with all it started."""
    head, name = repository.resolve("HEAD"), git(folder, "rev-parse", what)
    path = loose_path(folder / ".git", name)
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(fetch, "WORK_SECONDS", 0.5)
    monkeypatch.setattr(easeci_git, "QUESTION_SECONDS", 0.5)
    with pytest.raises(DamagedCommitError, match="git took too long"):
        own.fetch(repository, head)
    if what == "HEAD":
        with pytest.raises(UsageError):
            repository.resolve("HEAD")
    wait_until(lambda: not is_named_by_a_process(folder))


def is_named_by_a_process(path: Path) -> bool:
    """Whether the command line of any process has this path in it."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.fsencode(path) in (process / "cmdline").read_bytes():
                return True
    return False


def test_a_forged_commit_is_not_called_unknown(repository: Repository, folder: Path) -> None:
    """It is there, and its name stands at the tip of a branch."""
    forge(folder, "commit")
    for revision in ("HEAD", "main", git(folder, "rev-parse", "HEAD")):
        with pytest.raises(DamagedCommitError):
            repository.resolve(revision)


def test_what_is_forged_after_the_fetch_has_no_effect(
    repository: Repository, folder: Path, own: FetchedCommits, tmp_path: Path
) -> None:
    """Checkout, message and files are read from what was fetched."""
    fetched = own.fetch(repository, repository.resolve("HEAD"))
    for what in ("blob", "tree", "commit"):
        forge(folder, what)
    assert fetched.read("model.py").file == TRUE
    assert fetched.read().subject == "The second"
    checkout(fetched, tmp_path / "out")
    assert (tmp_path / "out" / "model.py").read_bytes() == TRUE
    assert own.fetch(repository, fetched.id) == fetched


def test_what_fsck_refuses_is_named(
    repository: Repository, folder: Path, own: FetchedCommits
) -> None:
    """A tree with an entry .git would write into the git folder of a careless checkout."""
    blob = git(folder, "rev-parse", "HEAD:model.py")
    entry = b"100644 .git\0" + bytes.fromhex(blob)
    tree = subprocess.run(
        ["git", "hash-object", "-t", "tree", "--literally", "-w", "--stdin"],
        cwd=folder,
        input=entry,
        capture_output=True,
        check=True,
    ).stdout.decode()
    commit = git(folder, "commit-tree", "-m", "Odd", tree.strip())
    with pytest.raises(DamagedCommitError, match=r"\(hasDotgit: contains '\.git'\)"):
        own.fetch(repository, commit)


def test_any_commit_and_any_source_can_be_fetched(
    repository: Repository, folder: Path, own: FetchedCommits, tmp_path: Path
) -> None:
    """No ref need lead to it; shallow clones, URLs, and other hashes work; history is left out."""
    lost = repository.resolve("HEAD")
    git(folder, "reset", "--quiet", "--hard", "HEAD~1")
    git(folder, "reflog", "expire", "--expire=now", "--all")
    fetched = own.fetch(repository, lost)
    assert not list(fetched.git_dir.glob("objects/??/*"))  # one pack
    with pytest.raises(subprocess.CalledProcessError):
        git(fetched.git_dir, "cat-file", "-e", f"{lost}~1")
    head = repository.resolve("HEAD")
    shallow = tmp_path / "a 100% odd 'name'"
    git(tmp_path, "clone", "--quiet", "--depth=1", folder.as_uri(), str(shallow))
    fetched = own.fetch(Repository.find(shallow), head)
    assert fetched.read("model.py").file == b"first = 1\n"
    own.keep_only([])
    assert own.get(head) is None
    assert own.fetch(folder.as_uri(), head) == fetched
    other = tmp_path / "sha256"
    other.mkdir()
    git(other, "init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    commit = commit_files(other, "Long ids", model__py="x = 1\n")
    assert own.fetch(Repository.find(other), commit).read("model.py").file == b"x = 1\n"


def test_a_partial_clone_is_no_fault_of_the_commit(
    folder: Path, own: FetchedCommits, tmp_path: Path
) -> None:
    """Exit 6, not 5, and nothing is fetched from elsewhere meanwhile."""
    git(folder, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    options = ("--quiet", "--no-checkout", "--filter=blob:none")
    git(tmp_path, "clone", *options, folder.as_uri(), str(partial))
    repository = Repository.find(partial)
    with pytest.raises(InfrastructureError, match="does not hold all files") as raised:
        own.fetch(repository, repository.resolve("HEAD"))
    assert "partial clone" in str(raised.value)


def test_what_others_put_into_a_bare_repository_leads_nowhere(
    folder: Path, own: FetchedCommits, tmp_path: Path
) -> None:
    """A .git or a commondir in its folder would lead git to another repository, and its hooks."""
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(folder), str(bare))
    repository = Repository.find(bare)
    evil = new_repository(tmp_path / "evil")
    (bare / ".git").write_text(f"gitdir: {evil / '.git'}")
    (bare / "commondir").write_text(str(evil / ".git"))
    head = git(folder, "rev-parse", "HEAD")
    assert own.fetch(repository, head).read("model.py").file == TRUE


def test_what_is_being_pushed_is_found_in_its_quarantine(
    repository: Repository, folder: Path, own: FetchedCommits, tmp_path: Path
) -> None:
    """A gate tests a commit before any ref has it; a refused push is thrown away."""
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(folder), str(bare))
    commit = commit_files(folder, "Pushed", model__py="third = 3\n")
    quarantine = tmp_path / 'in "quotes" \\ and spaces'
    shutil.copytree(folder / ".git" / "objects", quarantine)
    hosted = Repository.find(bare)
    assert not hosted.has(commit)
    received = hosted.receiving(str(quarantine))
    assert received.resolve(commit) == commit
    fetched = own.fetch(received, commit)
    shutil.rmtree(quarantine)
    assert fetched.read("model.py").file == b"third = 3\n"


def test_a_killed_fetch_leaves_nothing_in_the_way(
    repository: Repository, own: FetchedCommits
) -> None:
    """Its folder is removed together with what is not needed any more."""
    head = repository.resolve("HEAD")
    left = own.folder / ".making-0123456789abcdef.tmp"
    (left / "objects").mkdir(parents=True)
    (left / "shallow.lock").touch()
    assert own.get(head) is None
    held = own.fetch(repository, head)
    own.keep_only([head])
    assert list(own.folder.iterdir()) == [held.git_dir]


def test_a_few_loose_objects_do_not_become_a_large_pack(
    repository: Repository, folder: Path, own: FetchedCommits
) -> None:
    """Zeros take a thousandth of their size in the repository, and little more when fetched."""
    size = 2**25
    (folder / "zeros").write_bytes(bytes(size))
    fetched = own.fetch(repository, commit_files(folder, "Zeros"))
    assert sum(path.stat().st_size for path in fetched.git_dir.rglob("*")) < size / 50


@pytest.mark.parametrize(
    ("limit", "room", "error", "what"),
    [
        (2**16, 2**30, BuildError, "more than 500,000 files and folders, or more than 32 GiB"),
        (2**30, 2**16, InfrastructureError, "the disk is full, or nearly full"),
        (2**30, 0, InfrastructureError, "the disk is full, or nearly full"),
    ],
)
def test_a_fetch_ends_where_its_room_does(
    repository: Repository,
    folder: Path,
    own: FetchedCommits,
    monkeypatch: pytest.MonkeyPatch,
    limit: int,
    room: int,
    error: type[EaseciError],
    what: str,
) -> None:
    """A commit is too large for everybody, or for this disk only. Nothing is left of it."""
    (folder / "large").write_bytes(os.urandom(2**20))
    commit = commit_files(folder, "Large")
    monkeypatch.setattr(fetch, "MOST_PACK_BYTES", limit)
    monkeypatch.setattr(fetch, "free_room", lambda _: room)
    with pytest.raises(error, match=what) as raised:
        own.fetch(repository, commit)
    assert not isinstance(raised.value, DamagedCommitError)
    assert list(own.folder.iterdir()) == []


@pytest.mark.parametrize("name", ["No space left on device", "promisor remote", "a\nOut of memory"])
def test_no_name_makes_damage_look_like_a_broken_machine(
    repository: Repository, folder: Path, own: FetchedCommits, name: str
) -> None:
    """Git complains about a pack by its name, which accounts that may push can choose."""
    head = repository.resolve("HEAD")
    loose_path(folder / ".git", git(folder, "rev-parse", "HEAD:model.py")).unlink()
    packs = folder / ".git" / "objects" / "pack"
    for ending in ("idx", "pack"):
        (packs / f"pack-{name}.{ending}").write_bytes(b"junk")
    with pytest.raises(DamagedCommitError):
        own.fetch(repository, head)


def test_only_this_account_can_read_what_was_fetched(
    repository: Repository, own: FetchedCommits
) -> None:
    fetched = own.fetch(repository, repository.resolve("HEAD"))
    for path in (own.folder, fetched.git_dir):
        assert path.stat().st_mode & 0o077 == 0
