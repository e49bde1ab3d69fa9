"""Honest programs find what they need: their commit, their libraries, their examples."""

from __future__ import annotations

import os
import shutil
import venv
from pathlib import Path

import pytest

from easeci.build.archive import save_archive
from easeci.build.bubblewrap import Bubblewrap
from easeci.build.checkout import checkout
from easeci.build.detection import allowed_sandboxes, why_not
from easeci.build.landlock import Landlock, Unsandboxed
from easeci.build.repository import Repository
from easeci.build.sandbox import Limits, Sandbox
from easeci.errors import BuildError, InfrastructureError, UsageError
from tests.sandbox.building import GOOD, Site, commit_files, fetched, git, usable


def test_a_real_model_runs_with_the_invoking_python(site: Site) -> None:
    """scikit-learn from the invoking environment, by a .py without a run bit, in many processes."""
    program = """
    import csv, os
    from joblib import Parallel, delayed
    from sklearn.linear_model import LogisticRegression
    model = LogisticRegression().fit([[0.0], [1.0]], ["woof", "meow"])
    rows = list(csv.DictReader(open(os.environ["EASECI_EXAMPLES"] + "/examples.csv")))
    inputs = Parallel(n_jobs=2)(delayed(float)(row["id"]) for row in rows)
    answers = model.predict([[value] for value in inputs])
    with open(os.environ["EASECI_PREDICTIONS"], "w") as file:
        file.write("id,prediction\\n")
        file.writelines(f"{row['id']},{answer}\\n" for row, answer in zip(rows, answers))
    """
    limits = Limits(seconds=60, processes=200)
    built = site.build(usable(Bubblewrap()), command="./model.py", limits=limits, model__py=program)
    assert built.predictions.read_text() == "id,prediction\n1,meow\n"
    assert 0 < built.seconds < 60


def test_any_language_will_do(site: Site, sandbox: Sandbox) -> None:
    """A program with a run bit runs by its first line, with its arguments and no shell."""
    text = '#!/bin/sh\nprintf "id,prediction\\n1,$1\\n" > "$EASECI_PREDICTIONS"\n'
    (site.repository / "predict").write_text(text)
    (site.repository / "predict").chmod(0o755)
    built = site.build(sandbox, command="predict 'a; b $HOME'")
    assert built.predictions.read_text() == "id,prediction\n1,a; b $HOME\n"


def test_the_commit_is_tested_and_not_the_work_tree(site: Site, sandbox: Sandbox) -> None:
    commit_files(site.repository, program__py=GOOD, answer__txt="committed")
    (site.repository / "answer.txt").write_text("not committed")
    git(site.repository, "update-index", "--assume-unchanged", "answer.txt")
    program = """
    import os, shutil
    assert os.listdir(os.environ["HOME"]) == []
    shutil.copy("answer.txt", os.environ["EASECI_PREDICTIONS"])
    """
    built = site.build(sandbox, program__py=program)
    assert built.predictions.read_text() == "committed"


def test_programs_may_write_where_it_is_private(site: Site, sandbox: Sandbox) -> None:
    """Into the checkout, HOME, TMPDIR and to standard output by name."""
    program = f"""
    import os, tempfile
    open("cache", "w").close()
    open(os.path.expanduser("~/.cache"), "w").close()
    tempfile.TemporaryFile().write(b"x")
    os.system("echo spoken > /dev/stderr")
    {GOOD.replace(chr(10), chr(10) + "    ")}
    """
    site.build(sandbox, program__py=program)
    assert not (site.repository / "cache").exists()
    if isinstance(sandbox, Bubblewrap):
        assert site.log == "spoken\n"


def test_files_are_copied_with_their_modes_and_times(site: Site, sandbox: Sandbox) -> None:
    """Copies, archives and databases work, whether or not modes and times can be set."""
    program = f"""
    import os, shutil, sqlite3, subprocess, tarfile, zipfile
    os.makedirs("tree/inner")
    with open("tree/inner/file", "w") as file:
        file.write("content")
    shutil.copy2("tree/inner/file", "copy2")
    shutil.copy2(os.environ["EASECI_EXAMPLES"] + "/examples.csv", "examples.csv")
    shutil.copytree("tree", "copytree")
    with open("copy2", "r+") as file:
        os.utime(file.fileno())
        os.fchmod(file.fileno(), 0o600)
    with tarfile.open("tree.tar.gz", "w:gz") as tar:
        tar.add("tree")
    with tarfile.open("tree.tar.gz") as tar:
        tar.extractall("untarred")
    with zipfile.ZipFile("tree.zip", "w") as archive:
        archive.write("tree/inner/file")
    with zipfile.ZipFile("tree.zip") as archive:
        archive.extractall("unzipped")
    for command in (
        "cp -a tree cp", "mkdir tar", "tar xzf tree.tar.gz -C tar", "touch tree/inner/file",
        "touch -d 2000-01-01 tree/inner/file", "install -m 600 copy2 installed", "mv cp moved",
        "cp --reflink=auto copy2 reflink", "ln copy2 linked",
    ):
        subprocess.run(command.split(), check=True)
    places = ("copytree/inner", "untarred/tree/inner", "unzipped/tree/inner", "moved/inner")
    for place in (*(place + "/file" for place in places), "tar/tree/inner/file", "installed"):
        assert open(place).read() == "content", place
    with sqlite3.connect("database") as database:
        database.execute("create table t (x)")
    assert not os.isatty(0)
    {GOOD.replace(chr(10), chr(10) + "    ")}
    """
    site.build(sandbox, program__py=program)
    assert site.log == ""


def test_a_saved_checkout_builds_like_its_commit(site: Site, sandbox: Sandbox) -> None:
    commit = commit_files(site.repository, program__py=GOOD)
    checkout(fetched(Repository.find(site.repository), commit), site.root / "tree")
    save_archive(site.root / "tree", site.root / "saved.tar.gz")
    built = site.build(
        sandbox, archive=site.root / "saved.tar.gz", program__py="raise SystemExit(1)"
    )
    assert built.predictions.read_text() == "id,prediction\n1,cat\n"


def test_mounted_folders_are_read_only(site: Site) -> None:
    """Found under their own name even where only root can go, and not to be changed."""
    weights = site.root / "weights"
    weights.mkdir(mode=0o755)
    (weights / "w").write_text("heavy")
    program = f"""
    import os
    try:
        open("{weights}/planted", "w")
    except OSError:
        open(os.environ["EASECI_PREDICTIONS"], "w").write(open("{weights}/w").read())
    """
    built = site.build(usable(Bubblewrap()), mounts=(str(weights),), program__py=program)
    assert built.predictions.read_text() == "heavy"


def test_an_environment_inside_the_repository_is_seen_alone(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its Python and its libraries work; the work tree around it is not there."""
    prefix = site.repository / ".venv"
    venv.create(prefix, with_pip=False, symlinks=True)
    library = next(prefix.glob("lib/python3*/site-packages")) / "library.py"
    library.write_text("answer = 42\n")
    (site.repository / ".gitignore").write_text(".venv\n")
    monkeypatch.setenv("VIRTUAL_ENV", str(prefix))
    monkeypatch.setenv("PATH", f"{prefix}/bin:{os.environ['PATH']}")
    program = f"""
    import os, subprocess
    subprocess.run(["python", "-c", "import library"], check=True)
    import library
    assert os.listdir("{site.repository}") == [".venv"]
    open(os.environ["EASECI_PREDICTIONS"], "w").write(str(library.answer))
    """
    built = site.build(usable(Bubblewrap()), command="./program.py", program__py=program)
    assert built.predictions.read_text() == "42"
    (library.parent / "model.pth").write_text(str(site.repository / "src"))
    with pytest.raises(UsageError, match="editable"):
        site.build(usable(Bubblewrap()), command="./program.py")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("./absent.py", "has no file './absent.py'"),
        ("./plain.txt", "is not marked as a program"),
        ("./windows", "ends as on Windows"),
        ("no-such-program", "exit code 127"),
    ],
)
def test_what_cannot_be_run_is_told(command: str, reason: str, site: Site) -> None:
    (site.repository / "windows").write_bytes(b"#!/bin/sh\r\necho\r\n")
    (site.repository / "windows").chmod(0o755)
    with pytest.raises(BuildError, match=reason):
        site.build(usable(Bubblewrap()), command=command, plain__txt="text")


@pytest.mark.parametrize("command", ["", "'unbalanced"])
def test_commands_must_be_commands(command: str, site: Site) -> None:
    with pytest.raises(UsageError, match="is not a command"):
        site.build(Unsandboxed(), command=command, plain__txt="text")


def fake_bwrap(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Put another bwrap before the real one, where the build's user can get to it."""
    fake = Path(os.environ["TMPDIR"]) / "fake"
    fake.mkdir()
    (fake / "bwrap").write_text(f"#!/bin/sh\n{text}\n")
    (fake / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake}:{os.environ['PATH']}")


def allowed(site: Site) -> tuple[Sandbox, ...]:
    """The sandboxes that builds of the site's repository use."""
    return allowed_sandboxes(Repository.find(site.repository))


def test_a_sandbox_that_fails_is_no_build_error(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit is not to blame: exit 6, not 5."""
    sandbox = usable(Bubblewrap())
    fake_bwrap(monkeypatch, "echo bwrap: no namespaces >&2; exit 1")
    with pytest.raises(InfrastructureError, match=r"no sandbox works here(.|\n)*no namespaces"):
        site.build(sandbox, program__py=GOOD)
    assert why_not(sandbox) is not None


def test_a_sandbox_that_hangs_is_no_build_error(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time runs out before the program begins: then it is not the program that is slow."""
    usable(Bubblewrap())
    fake_bwrap(monkeypatch, "sleep 600")
    monkeypatch.setattr("easeci.build.program.why_not", lambda _: "it hangs")
    with pytest.raises(InfrastructureError, match="bubblewrap: it hangs"):
        site.build(Bubblewrap(), limits=Limits(seconds=1), program__py=GOOD)


def test_the_next_sandbox_is_used_if_the_best_works_not_at_all(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build's own start shows it; there is no trial before."""
    usable(Bubblewrap())
    usable(Landlock())
    fake_bwrap(monkeypatch, "echo bwrap: no namespaces >&2; exit 1")
    program = GOOD + "print('in', os.getcwd())\n"
    site.build(*allowed(site), program__py=program)
    assert site.log.startswith(f"in {os.environ['TMPDIR']}")  # in bubblewrap it would be /easeci


def test_landlock_is_not_used_where_other_accounts_push(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They share the machine with its programs, and could read what these leave. Bubblewrap is."""
    usable(Bubblewrap())
    usable(Landlock())
    bare = site.root / "shared.git"
    git(site.root, "init", "--quiet", "--bare", "--shared=group", str(bare))
    sandboxes = allowed_sandboxes(Repository.find(bare))
    site.build(*sandboxes, program__py=GOOD)
    fake_bwrap(monkeypatch, "echo bwrap: no namespaces >&2; exit 1")
    with pytest.raises(InfrastructureError, match="other accounts of this machine") as raised:
        site.build(*sandboxes, program__py=GOOD)
    assert "Install bubblewrap" in str(raised.value)
    (bare / "objects").chmod(0o755)
    site.build(*allowed_sandboxes(Repository.find(bare)), program__py=GOOD)


def test_no_weaker_sandbox_is_used_if_the_best_works(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build for which it fails, such as by a mount, is an error and never runs in the next."""
    usable(Bubblewrap())
    usable(Landlock())
    weights = Path(os.environ["TMPDIR"]) / "weights"
    weights.mkdir()
    real = shutil.which("bwrap")
    fail = "echo bwrap: no such mount >&2; exit 1"
    script = f'case "$*" in *{weights}*) {fail};; esac; exec {real} "$@"'
    fake_bwrap(monkeypatch, script)
    site.build(*allowed(site), program__py=GOOD)
    with pytest.raises(InfrastructureError, match="the sandbox failed: bwrap: no such mount"):
        site.build(*allowed(site), mounts=(str(weights),), program__py=GOOD)


def test_limits_that_cannot_be_set_are_no_build_error(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program begins only after its limits are set."""
    usable(Bubblewrap())
    monkeypatch.setattr("easeci.build.bubblewrap._limited", lambda _: ("/bin/false",))
    with pytest.raises(InfrastructureError, match="no sandbox works here"):
        site.build(Bubblewrap(), program__py=GOOD)


def test_what_a_sandbox_lacks_is_told(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bubblewrap first, then Landlock; no protection only if the caller asks for that."""
    assert allowed(site) == (Bubblewrap(), Landlock())
    monkeypatch.setattr("easeci.build.detection.missing_programs", lambda: ["bwrap"])
    monkeypatch.setattr("easeci.build.supervise.landlock_version", lambda: 1)
    with pytest.raises(InfrastructureError, match="no sandbox works here") as raised:
        site.build(*allowed(site), program__py=GOOD)
    for word in (
        "not installed: bwrap",
        "version 1",
        "apt-get install bubblewrap",
        "--unsandboxed",
    ):
        assert word in str(raised.value)
