"""The main job on bundled data: a plan, then verdicts on real predictions of real models.

Trains four small scikit-learn classifiers on the handwritten digits that scikit-learn brings along
(no download), writes their predictions to files, and runs the commands that a user would run.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

import easeci

SCRIPT = """\
ml:
  - script      : ./test_model.py
  - condition   : n - o > 0.02 +/- 0.06     # better by two points, measured to six
  - reliability : 0.99                      # no wrong answer, with this probability
  - mode        : fp-free                   # Unknown fails
  - adaptivity  : firstChange               # the first pass ends the testset's life
  - steps       : 4                         # or the fourth commit
  - difference  : 0.2                       # we expect to change a fifth of the predictions
"""
OLD = ("naive Bayes", GaussianNB())
COMMITS: tuple[tuple[str, Any], ...] = (
    ("naive Bayes with a little smoothing", GaussianNB(var_smoothing=1e-4)),
    ("logistic regression, hardly trained", LogisticRegression(C=1e-7, max_iter=200)),
    ("support vectors", SVC(gamma=0.001)),
)
EXPECTED = (1, 1, 0, 0)
"""Exit codes: not shown to be better, shown to be worse, better, and better again."""


def main() -> int:
    pixels, digits = load_digits(return_X_y=True)
    train, test, train_labels, test_labels = train_test_split(
        pixels, digits, train_size=200, random_state=0, stratify=digits
    )
    ids = [f"digit-{i:04}" for i in range(len(test))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / ".easeci.yml").write_text(SCRIPT, encoding="utf-8")
        pl.DataFrame({"id": ids, "label": test_labels}).write_csv(folder / "labels.csv")

        def predict(model: Any, path: Path) -> None:
            predictions = model.fit(train, train_labels).predict(test)
            pl.DataFrame({"id": ids, "prediction": predictions}).write_parquet(path)

        say(f"The script, .easeci.yml:\n\n{SCRIPT}")
        run(folder, "plan")
        say(f"{len(ids):,} digits with labels are at hand. The old model: {OLD[0]}.")
        predict(OLD[1], folder / "old.parquet")
        codes = []
        for number, (title, model) in enumerate(COMMITS, start=1):
            say(f"Commit {number}: {title}")
            predict(model, folder / "new.parquet")
            codes.append(
                run(folder, "check", "--new", "new.parquet", "--old", "old.parquet",
                    "--labels", "labels.csv")
            )  # fmt: skip
        say(
            "The same last commit, but nobody has labelled anything yet: easeci asks for labels\n"
            "where the models differ, until the answer is known."
        )
        known = dict(zip(ids, test_labels.tolist(), strict=True))
        codes.append(label_on_demand(folder, known))
    say("Your own model: `easeci init`, edit the condition, `easeci plan`, `easeci check`.")
    return 0 if tuple(codes) == EXPECTED else 1


def label_on_demand(folder: Path, known: dict[str, int]) -> int:
    """Answer every question for labels as a labeller would, then show the verdict."""
    arguments = ["check", "--new", "new.parquet", "--old", "old.parquet", "--labels", "given.csv"]
    given: dict[str, int] = {}
    script = easeci.load_script(folder / ".easeci.yml")
    while True:
        labels = pl.DataFrame({"id": list(given), "label": list(given.values())})
        labels.cast({"id": pl.String, "label": pl.Int64}).write_csv(folder / "given.csv")
        result = easeci.check(
            script,
            new=folder / "new.parquet",
            old=folder / "old.parquet",
            labels=folder / "given.csv" if given else None,
        )
        if result.verdict.passed is not None:
            return run(folder, *arguments)
        print(f"  {len(result.wanted_ids)} labels asked for, {len(given)} given so far")
        given |= {name: known[name] for name in result.wanted_ids}


def say(text: str) -> None:
    print(f"\n{'─' * 78}\n{text}", flush=True)


def run(folder: Path, *arguments: str) -> int:
    print(f"\n$ easeci {' '.join(arguments)}\n", flush=True)
    command = Path(sys.executable).with_name("easeci")
    return subprocess.run([str(command), *arguments], cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
