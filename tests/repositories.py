"""Real repositories with a small model in them, whose accuracy is easy to say.

Every example has a number x, evenly spread over [0, 1), and the label is "low" below one half. A
model is a cut: it says "low" below it, so a cut of 0.5 + e is right on all but a share e.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.commands import easeci_here

EXAMPLES = 1600
"""Of which 80 become the public sample."""
SAMPLE = 80
SEALED = EXAMPLES - SAMPLE
TEMPORARY = tempfile.gettempdir()
"""As it is before any test sets another one."""
PROGRAM = """\
import csv, json, os
from model import predict

with open(os.path.join(os.environ["EASECI_EXAMPLES"], "examples.jsonl")) as file:
    rows = [json.loads(line) for line in file]
with open(os.environ["EASECI_PREDICTIONS"], "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "prediction"])
    writer.writerows([row["id"], predict(row)] for row in rows)
"""
MODEL = """\
def predict(row):
    return "low" if float(row["x"]) < {cut} else "high"
"""
SCRIPT = {
    "script": "./test_model.py",
    "condition": "n - o > 0.02 +/- 0.05",
    "reliability": "0.95",
    "mode": "fp-free",
    "adaptivity": "full",
    "steps": "4",
    "sensitivity": "0.9",
    "difference": "0.2",
    "estimator": "sequential",
    "unchanged": "test",
}
"""Small, and every commit that is another model is tested, by the same walk whatever is labelled."""


@dataclass(frozen=True)
class Workplace:
    """A repository in a folder, and files of examples and labels beside it."""

    folder: Path

    @property
    def repository(self) -> Path:
        """The repository, with a working tree."""
        return self.folder / "model"

    @property
    def examples(self) -> Path:
        """The file of examples."""
        return self.folder / "examples.csv"

    @property
    def labels(self) -> Path:
        """The file of all labels."""
        return self.folder / "labels.csv"

    @staticmethod
    def make(folder: Path, **keys: str) -> Workplace:
        """A repository without a commit, and the files of a testset; keys change the script."""
        place = Workplace(folder)
        place.repository.mkdir(parents=True)
        place.git("init", "--quiet", "--initial-branch=main", "--template=")
        place.write_script(**keys)
        place.write("test_model.py", PROGRAM)
        write_examples(place.examples, place.labels)
        return place

    def write_script(self, **keys: str) -> None:
        """Write the script; keys change or add to the usual ones."""
        lines = [f"  - {key}: {value}" for key, value in (SCRIPT | keys).items()]
        self.write(".easeci.yml", "\n".join(["ml:", *lines, ""]))

    def write(self, name: str, text: str) -> None:
        """Write a file of the repository."""
        (self.repository / name).write_text(text, encoding="utf-8")

    def git(self, *arguments: str) -> str:
        """Run git with an identity and a time of its own; what it printed."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org",
            "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
            "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
        }
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.repository,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, message: str) -> str:
        """Commit everything; the id of the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def commit_cut(self, cut: float, message: str | None = None) -> str:
        """A commit whose model is right on all but a share |cut − 0.5|."""
        self.write("model.py", MODEL.format(cut=cut))
        return self.commit(message or f"cut at {cut}")

    def easeci(
        self, *arguments: str, code: int | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the command in the repository; ``code`` is the exit code that is expected."""
        done = easeci_here(*arguments, folder=self.repository, **environment)
        if code is not None:
            assert done.returncode == code, f"{done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def add_testset(self, *more: str, labelled: bool = True) -> None:
        """Seal the examples as a testset, with all labels or with none."""
        labels = ["--labels", str(self.labels)] if labelled else []
        self.easeci("testset", "add", str(self.examples), *labels, *more, code=0)


def copy_of(make: Callable[..., Workplace], folder: Path, **keys: str) -> Workplace:
    """What ``make`` makes in a folder: made once in each process, and then copied."""
    template = _template(make, tuple(sorted(keys.items())))
    shutil.copytree(template.folder, folder, symlinks=True, dirs_exist_ok=True)
    return Workplace(folder)


@cache
def _template(make: Callable[..., Workplace], keys: tuple[tuple[str, str], ...]) -> Workplace:
    folder = Path(tempfile.mkdtemp(prefix="easeci-template-", dir=TEMPORARY))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return make(folder, **dict(keys))


def write_examples(
    examples: Path, labels: Path | None = None, *, size: int = EXAMPLES, start: int = 0
) -> None:
    """``start`` makes other examples, for the next testset."""
    numbers = range(start, start + size)
    xs = {number: (number * 0.6180339887498949) % 1.0 for number in numbers}
    # Ids say nothing of the labels, and neither does the order.
    rows = [f"e{number},{x:.6f}" for number, x in xs.items()]
    examples.write_text("\n".join(["id,x", *rows, ""]), encoding="utf-8")
    if labels is not None:
        known = [f"e{n},{'low' if x < 0.5 else 'high'}" for n, x in xs.items()]
        labels.write_text("\n".join(["id,label", *known, ""]), encoding="utf-8")
