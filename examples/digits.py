"""The main use of easeci, on bundled data: commits of real models and their signals.

Makes a git repository with a small scikit-learn model in it, two testsets of handwritten digits
(those of scikit-learn, slightly turned, scaled and shifted, so that there are enough of them; no
download), and runs the commands that an owner and a developer would run.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import ndimage
from sklearn.datasets import load_digits

SCRIPT = """\
ml:
  - script      : ./test_model.py
  - condition   : n - o > 0.01 +/- 0.02     # better by a point, measured to two
  - reliability : 0.999                     # no wrong pass over the testset's life
  - mode        : fp-free                   # Unknown fails
  - adaptivity  : full                      # developers see every signal
  - steps       : 3                         # so many commits per testset
  - sensitivity : 0.99                      # clearly better commits pass
  - difference  : 0.1                       # we expect to change a tenth of the predictions
  - ignore      : [README.md]               # commits that change only this are the same model
"""
PROGRAM = '''\
"""Train the model, and predict a digit for every example."""
import os

import polars as pl
from model import MODEL
from sklearn.datasets import load_digits

pixels, digits = load_digits(return_X_y=True)
examples = pl.read_parquet(os.path.join(os.environ["EASECI_EXAMPLES"], "examples.parquet"))
predictions = MODEL.fit(pixels, digits).predict(examples.drop("id").to_numpy())
table = pl.DataFrame({"id": examples["id"], "prediction": predictions})
table.write_csv(os.environ["EASECI_PREDICTIONS"])
'''
SVC = "from sklearn.svm import SVC\n\nMODEL = SVC({})\n"
FOREST = "from sklearn.ensemble import {0}\n\nMODEL = {0}({1}, random_state=0)\n"
NEIGHBOURS = (
    "from sklearn.neighbors import KNeighborsClassifier\n\nMODEL = KNeighborsClassifier({})\n"
)


@dataclass(frozen=True)
class Commit:
    """A change to the repository, and the exit code that it gets."""

    title: str
    file: str
    text: str
    code: int


COMMITS = (
    Commit("Support vectors", "model.py", SVC.format("gamma=0.001"), 0),
    Commit("A forest of five trees", "model.py", FOREST.format("RandomForestClassifier", 5), 1),
    Commit("Describe the model", "README.md", "# Digits\n", 1),
    Commit("Nearest neighbours, mistyped", "model.py", "MODEL = KNeighbours()\n", 5),
    Commit("Support vectors again, tidied up", "model.py", SVC.format("C=1.0, gamma=0.001"), 0),
    Commit("Twenty-five neighbours", "model.py", NEIGHBOURS.format(25), 1),
    Commit("One neighbour", "model.py", NEIGHBOURS.format(1), 0),
    Commit("Extremely random trees", "model.py", FOREST.format("ExtraTreesClassifier", 100), 4),
)
SIZE = 6_000
SEEDS = {"first": 0, "second": 1}
COMMENTS = {
    1: "Its program sees the sealed examples, so it spends a step.",
    2: "Only words changed, which the script ignores: the same model, its signal again, no step.",
    3: "It fails on the public sample. That is told in full, and spends no step.",
    4: "A refactoring: on the public sample it predicts what the baseline does, so no step.",
    7: "Three steps were bought, and they are used up.",
}


def main() -> int:
    """Play the story; 0 if every command ended as expected."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        demo = Demo(folder / "digits", folder)
        demo.prepare()
        say("A repository with this script, .easeci.yml:")
        print(f"\n{SCRIPT}", flush=True)
        demo.easeci("plan", expect=0)
        say(
            f"The first commit, {COMMITS[0].title.lower()}, is what others are compared with. The "
            f"owner adds {SIZE:,} digits with their labels, and it is built on them."
        )
        demo.commit(COMMITS[0])
        demo.easeci("testset", "add", "../first.parquet", "--label-column", "digit", expect=0)
        for number, commit in enumerate(COMMITS[1:], start=1):
            say(f"Commit {number + 1}: {commit.title}. {COMMENTS.get(number, '')}".rstrip())
            demo.commit(commit)
            demo.easeci("run", expect=commit.code)
        say(
            "The owner adds a new testset, this time without any labels. The last commit that "
            "passed is built again, to be compared with."
        )
        demo.easeci("testset", "add", "../second.parquet", expect=0)
        demo.easeci("run", expect=3)
        say("easeci asks for labels only until the answer is known.")
        demo.label()
        demo.easeci("run", expect=1)
        say("What developers see, what the owner sees, and that nobody has touched the record.")
        demo.easeci("log", expect=0)
        demo.easeci("status", "--owner", expect=0)
        demo.easeci("log", "--verify", expect=0)
        say("Your own model: `easeci init`, then `easeci plan`, then `easeci testset add`.")
        return 0 if demo.as_expected else 1


class Demo:
    """A repository, and the commands run in it."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.repository, self.folder = repository, folder
        self.answers: dict[str, int] = {}
        self.as_expected = True

    def prepare(self) -> None:
        """Make the repository and the two testsets."""
        self.repository.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        (self.repository / ".easeci.yml").write_text(SCRIPT, encoding="utf-8")
        (self.repository / "test_model.py").write_text(PROGRAM, encoding="utf-8")
        for name, seed in SEEDS.items():
            generator = np.random.default_rng(seed)
            pixels, digits = draw_digits(SIZE, generator)
            ids = generator.permutation(SIZE)
            columns = {f"pixel{i}": pixels[:, i] for i in range(pixels.shape[1])}
            table = pl.DataFrame({"id": [f"{name}-{i:04}" for i in ids], **columns})
            self.answers |= dict(zip(table["id"], digits.tolist(), strict=True))
            if name == "first":
                table = table.with_columns(digit=digits)
            table.write_parquet(self.folder / f"{name}.parquet")

    def commit(self, commit: Commit) -> None:
        """Change one file, and commit it."""
        (self.repository / commit.file).write_text(commit.text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", commit.title)

    def label(self) -> None:
        """Answer every question, as a labeller would, until there are no more."""
        asked = self.folder / "ask.csv"
        while self.easeci("labels", "export", "../ask.csv", expect=0) == 0 and asked.exists():
            with asked.open(encoding="utf-8", newline="") as file:
                ids = [row["id"] for row in csv.DictReader(file)]
            if not ids:
                return
            given = pl.DataFrame({"id": ids, "label": [self.answers[name] for name in ids]})
            given.write_csv(self.folder / "given.csv")
            asked.unlink()
            self.easeci("labels", "import", "../given.csv", expect=0)

    def git(self, *arguments: str) -> None:
        """Run git in the repository, as a developer."""
        who = ["-c", "user.name=Developer", "-c", "user.email=developer@example.org"]
        subprocess.run(["git", *who, *arguments], cwd=self.repository, check=True)

    def easeci(self, *arguments: str, expect: int) -> int:
        """Show a command, run it, and compare its exit code with the expected one."""
        print(f"\n$ easeci {' '.join(arguments)}\n", flush=True)
        command = Path(sys.executable).with_name("easeci")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("EASECI_")}
        done = subprocess.run(
            [str(command), *arguments], cwd=self.repository, env=environment, check=False
        )
        if done.returncode != expect:
            print(f"exit code {done.returncode}, expected {expect}", file=sys.stderr)
            self.as_expected = False
        return done.returncode


def draw_digits(
    size: int, generator: np.random.Generator
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """New digits: those of scikit-learn, turned, scaled and shifted a little."""
    pixels, digits = load_digits(return_X_y=True)
    chosen = generator.integers(0, len(pixels), size)
    drawn = np.empty((size, pixels.shape[1]), dtype=np.uint8)
    middle = np.array([3.5, 3.5])
    for row, index in enumerate(chosen):
        angle, scale = generator.normal(0, 0.1), 1 + generator.normal(0, 0.05)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) * scale
        shift = middle - turn @ middle + generator.normal(0, 0.15, 2)
        image = ndimage.affine_transform(pixels[index].reshape(8, 8), turn, shift, order=1)
        drawn[row] = np.clip(np.round(image), 0, 16).ravel()
    return drawn, digits[chosen]


def say(text: str) -> None:
    """Print a line across the terminal, and a sentence below it."""
    print(f"\n{'─' * 78}\n{textwrap.fill(text, 78)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
