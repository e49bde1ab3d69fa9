"""The same model is the same tree without ignored paths, with the same mounted files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from easeci.build.checkout import CleanTree, checkout
from easeci.build.repository import Repository
from easeci.build.same_model import model_of, require_program_kept, tree_without
from easeci.errors import BuildError, ScriptError
from tests.integration.build.trees import tree
from tests.sandbox.building import commit_files, fetched, git, new_repository

IGNORED = ("README.md", "docs/**")


@pytest.fixture
def documented(folder: Path) -> Path:
    """The repository with a README, documents and a model in two files."""
    for name in ("docs/guide", "src"):
        (folder / name).mkdir(parents=True)
    (folder / "docs" / "guide" / "use.md").write_text("use\n")
    (folder / "src" / "model.py").write_text("model\n")
    (folder / "src" / "README.md").write_text("of the source\n")
    commit_files(folder, "Documented", README__md="read\n")
    return folder


def model(folder: Path, ignore: tuple[str, ...] = IGNORED, mounts: tuple[str, ...] = ()) -> str:
    """The model of HEAD."""
    repository = Repository.find(folder)
    commit = fetched(repository, repository.resolve("HEAD"))
    return model_of(commit, ignore, mounts, folder.parent / "memory")


def test_ignored_paths_do_not_change_the_model(documented: Path) -> None:
    """A commit that changes, adds or removes only ignored files is the same model."""
    before = model(documented)
    (documented / "docs" / "guide" / "use.md").write_text("used\n")
    (documented / "docs" / "new.md").write_text("new\n")
    commit_files(documented, "Documents", README__md="read more\n")
    assert model(documented) == before
    git(documented, "rm", "-r", "--quiet", "docs", "README.md")
    commit_files(documented, "No documents")
    assert model(documented) == before
    assert model(documented, ignore=()) == before


def test_every_other_change_is_another_model(documented: Path) -> None:
    """Content, name, run bit, and a file of an ignored name in another folder."""
    seen = [model(documented)]
    (documented / "src" / "model.py").write_text("other\n")
    commit_files(documented, "Content")
    seen.append(model(documented))
    (documented / "src" / "model.py").rename(documented / "src" / "renamed.py")
    commit_files(documented, "Name")
    seen.append(model(documented))
    (documented / "src" / "renamed.py").chmod(0o755)
    commit_files(documented, "Run bit")
    seen.append(model(documented))
    (documented / "src" / "README.md").write_text("changed\n")
    commit_files(documented, "Another README")
    seen.append(model(documented))
    assert len(set(seen)) == len(seen)


def test_a_tree_back_again_is_the_same_model(documented: Path) -> None:
    """A revert, an amended message and a squash are other commits of the same model."""
    before = model(documented)
    commit_files(documented, "Change", model__py="changed\n")
    assert model(documented) != before
    git(documented, "revert", "--no-edit", "HEAD")
    git(documented, "commit", "--amend", "--quiet", "--message", "Another message")
    assert model(documented) == before


def test_mounted_files_are_part_of_the_model(documented: Path, tmp_path: Path) -> None:
    """The same tree with other weights is another model."""
    weights = tmp_path / "weights"
    weights.mkdir()
    (weights / "w.bin").write_bytes(b"1")
    before = model(documented, mounts=(str(weights),))
    assert model(documented, mounts=(str(weights),)) == before
    (weights / "w.bin").write_bytes(b"2")
    assert model(documented, mounts=(str(weights),)) != before


def test_the_checkout_is_that_tree(documented: Path, tmp_path: Path) -> None:
    """Ignored paths are left out; what was left out by one commit is so by all."""
    repository = Repository.find(documented)
    commit = fetched(repository, repository.resolve("HEAD"))
    checkout(commit, tmp_path / "out", IGNORED)
    assert sorted(tree(tmp_path / "out")) == ["model.py", "src/README.md", "src/model.py"]
    git_dir = new_repository(tmp_path / "hashed")
    shutil.copytree(tmp_path / "out", git_dir, dirs_exist_ok=True)
    git(git_dir, "add", "--all", "--force")
    assert git(git_dir, "write-tree") == tree_without(commit, IGNORED)
    kept = CleanTree(commit.id, tmp_path / "kept")
    kept.fill(commit, IGNORED)
    assert tree(kept.folder) == tree(tmp_path / "out")


def test_a_checkout_does_not_tell_its_commit(documented: Path, tmp_path: Path) -> None:
    """Two commits of one model give the same names, contents, modes and times, and no .git."""
    repository = Repository.find(documented)
    first = fetched(repository, repository.resolve("HEAD"))
    (documented / "link").symlink_to("model.py")
    commit_files(documented, "Link", README__md="other\n")
    second = fetched(repository, repository.resolve("HEAD"))
    commit_files(documented, "Again", README__md="again\n")
    third = fetched(repository, repository.resolve("HEAD"))
    seen = []
    for number, commit in enumerate((first, second, third)):
        out = tmp_path / f"out-{number}"
        checkout(commit, out, IGNORED)
        assert not (out / ".git").exists()
        with pytest.raises(subprocess.CalledProcessError):
            git(out, "describe", "--always", GIT_CEILING_DIRECTORIES=str(tmp_path))
        seen.append(
            [
                (str(path.relative_to(out)), path.lstat().st_mode, path.lstat().st_mtime_ns)
                for path in [out, *sorted(out.rglob("*"))]
            ]
        )
    assert seen[1] == seen[2] != seen[0]
    assert len({time for _, _, time in seen[1]}) == 1


def test_refusals_are_for_what_is_left(documented: Path, tmp_path: Path) -> None:
    """A submodule or LFS pointer is refused, unless it is ignored."""
    library = new_repository(tmp_path / "library")
    commit_files(library, "A library")
    add = ("submodule", "--quiet", "add", str(library), "docs/lib")
    git(documented, "-c", "protocol.file.allow=always", *add)
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 9\n"
    (documented / "docs" / "film.mp4").write_text(pointer)
    (documented / "docs" / ("n" * 250)).mkdir()
    commit = fetched(Repository.find(documented), commit_files(documented, "With documents"))
    checkout(commit, tmp_path / "out", IGNORED)
    with pytest.raises(BuildError, match="'docs/lib' is a submodule"):
        checkout(commit, tmp_path / "whole")
    with pytest.raises(BuildError, match="Git LFS"):
        checkout(commit, tmp_path / "pointer", ("docs/lib",))


@pytest.mark.parametrize("bad", ["../outside", ":(nonsense)x", "", "/etc/passwd"])
def test_bad_pathspecs_are_named(documented: Path, bad: str) -> None:
    """The one that git does not take is named, when sealing and when building."""
    for use in (
        lambda: model(documented, ignore=("docs/**", bad)),
        lambda: require_program_kept("./model.py", ("docs/**", bad)),
    ):
        with pytest.raises(ScriptError) as raised:
            use()
        assert f"ignore: {bad!r} is not a pathspec of git" in str(raised.value)
        assert "docs/**" in str(raised.value)


@pytest.mark.parametrize(
    ("program", "ignore", "matched"),
    [
        ("./test_model.py", ["*.py"], "test_model.py"),
        ("python predict.py", ["predict.*"], "predict.py"),
        ("python -u bin/predict --fast", ["bin"], "bin/predict"),
        ("python -m model.predict", ["model/**"], "model/predict.py"),
        ("./run.sh --weights=data/w.bin", ["data/*"], "data/w.bin"),
        ("./test_model.py", [":!src"], "test_model.py"),
    ],
)
def test_a_pathspec_that_matches_the_program_is_refused(
    program: str, ignore: list[str], matched: str
) -> None:
    """It would be missing from every checkout."""
    with pytest.raises(ScriptError) as raised:
        require_program_kept(program, ignore)
    assert f"ignore: matches {matched}, which the script's program names" in str(raised.value)
    assert f"':!{matched}'" in str(raised.value)


@pytest.mark.parametrize(
    ("program", "ignore"),
    [
        ("./test_model.py", ["README.md", "CHANGELOG.md", "docs/**"]),
        ("python predict.py", ["*.py", ":!predict.py"]),
        ("python src/predict.py", [":!src"]),
        ("./test_model.py", []),
        ("not 'a command", ["docs"]),
    ],
)
def test_other_pathspecs_are_accepted(program: str, ignore: list[str]) -> None:
    """Those that leave the program where it is."""
    require_program_kept(program, ignore)
