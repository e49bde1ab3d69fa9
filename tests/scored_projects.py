"""Projects whose models write texts, and an owner's program scores them.

An example has a number x in [0, 1), and its reference is "yes <id>". A model answers so on a share
of the examples, and "no" on the others.
"""

from __future__ import annotations

import csv
from pathlib import Path

from easeci.ledger.state import Step, Testset
from easeci.service.project import Project
from easeci.service.testsets.add import Offer, add_testset
from tests.projects import opened
from tests.repositories import Workplace

EXAMPLES = 330
"""Of which 30 become the public sample."""
SEALED = 300

PROGRAM = """\
import csv, json, os
from model import outputs

with open(os.path.join(os.environ["EASECI_EXAMPLES"], "examples.jsonl")) as file:
    rows = [json.loads(line) for line in file]
with open(os.environ["EASECI_PREDICTIONS"][:-3] + "jsonl", "w") as file:
    for row in rows:
        for trial, text in enumerate(outputs(row)):
            file.write(json.dumps({"id": row["id"], "trial": trial, "output": text}) + "\\n")
"""
MODEL = """\
def outputs(row):
    return ["yes " + row["id"] if float(row["x"]) < {share} else "no"] * {trials}
"""
SCORER = """\
import csv, json, os

def score(row):
    return float(row["output"] == row["reference"])

{more}
with open(os.environ["EASECI_OUTPUTS"]) as file:
    rows = [json.loads(line) for line in file]
with open(os.environ["EASECI_SCORES"], "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "trial", "score"])
    for row in rows:
        writer.writerow([row["id"], row["trial"], score(row)])
"""
KEYS = {
    "condition": "n - o > 0.05 +/- 0.1",
    "scorer": "./score.py",
    "sample": "30",
    "reliability": "0.9",
    "sensitivity": "0.8",
    "timeout": "60s",
    "memory": "1GiB",
}


def scored_place(folder: Path, *, scorer: str = "", share: float = 0.4, **keys: str) -> Workplace:
    """A repository with a first model and a scorer; ``scorer`` is more of its program."""
    place = Workplace.make(folder, **KEYS | keys)
    place.write("test_model.py", PROGRAM)
    place.write("score.py", SCORER.format(more=scorer))
    numbers = range(EXAMPLES)
    xs = {number: (number * 0.6180339887498949) % 1.0 for number in numbers}
    with place.examples.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "x"])
        writer.writerows([f"e{number}", f"{x:.6f}"] for number, x in xs.items())
    write_references(place.labels, [f"e{number}" for number in numbers])
    commit_share(place, share)
    return place


def write_references(path: Path, ids: list[str]) -> None:
    """The references of some examples, as a file."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "label"])
        writer.writerows([name, f"yes {name}"] for name in ids)


def commit_share(place: Workplace, share: float, *, trials: int = 1, more: str = "") -> str:
    """A commit whose model is right on a share of the examples."""
    place.write("model.py", MODEL.format(share=share, trials=trials) + more)
    return place.commit(f"share {share}")


def add_scored(place: Workplace, *, labelled: bool = True, **keys: str) -> None:
    """Seal the examples with the first model as the baseline, whatever their number."""
    if keys:
        place.write_script(**KEYS | keys)
        place.commit("script")
    offer = Offer(
        place.examples,
        labels=place.labels if labelled else None,
        script=place.repository / ".easeci.yml",
        baseline="HEAD",
        allow_smaller=True,
    )
    add_testset(opened(place), offer)


def only_testset(project: Project) -> Testset:
    """The project's testset."""
    return project.state.testsets[1]


def only_step(project: Project) -> Step:
    """Its single step."""
    (step,) = only_testset(project).steps
    return step
