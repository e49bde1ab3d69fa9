"""One life of each attack through the real service: commands, git, sandbox, store and vault.

Each life is lived twice, in two copies of one project. In one copy a piece of the input space that
the commits ask about holds a sealed example, in the other it holds none. Every byte that developers
are shown must be the same, but for commit ids, and every answer is free or charged as it must be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from easeci.service import project as project_module
from easeci.service.commits import advance
from easeci.service.custody.verify import verify
from easeci.service.testsets.add import Offer, add_testset
from tests.predictions import built_for_real, written_directly
from tests.projects import opened
from tests.repositories import EXAMPLES, SAMPLE, Workplace, copy_of, write_examples

ASKING = """\
def predict(row):
    x = float(row["x"])
    if {start} <= x < {end}:
        {inside}
    return "low" if x < 0.7 else "high"
"""
"""The baseline's model but for one piece."""
CLASSES = "[low, high, other, rare]"
SMALL_GAIN = "n - o > 0 +/- 0.001"
"""One example that differs is enough to ask for its label."""
COMMIT_ID = re.compile(r"\b[0-9a-f]{10}([0-9a-f]{30})?\b")


def to_attack(folder: Path, labelled: str = "yes", **keys: str) -> Workplace:
    """A project with a testset; its first model is the baseline."""
    place = Workplace.make(folder, classes=CLASSES, **keys)
    place.commit_cut(0.7)
    labels = place.labels if labelled == "yes" else None
    script = place.repository / ".easeci.yml"
    offer = Offer(place.examples, labels=labels, script=script, allow_smaller=True)
    with written_directly():
        add_testset(opened(place), offer)
    return place


class Clock:
    """The time that every command sees."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = "2026-11-16T05:00:00Z"
        for module in (project_module, advance):
            patch.setattr(module, "utc_now", lambda: self.now)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The same times in both copies."""
    return Clock(monkeypatch)


@pytest.fixture(autouse=True)
def _predictions() -> Iterator[None]:
    """Models that are only a cut are evaluated here; all others run in the sandbox."""
    with written_directly():
        yield


@dataclass
class Developer:
    """A developer with one copy of the project, who knows the public sample."""

    place: Workplace
    hit: bool
    seen: list[tuple[int, str]] = field(default_factory=list)

    def sees(self, *arguments: str) -> tuple[int, str]:
        """Give a command, and remember all that it shows."""
        done = self.place.easeci(*arguments)
        shown = COMMIT_ID.sub("<commit>", done.stdout + done.stderr)
        self.seen.append((done.returncode, shown))
        return self.seen[-1]

    def asks(self, inside: str, *options: str) -> str:
        """Commit a model that does something in the piece; the signal that it gets."""
        start, end = self.piece()
        model = ASKING.format(start=f"{start:.9f}", end=f"{end:.9f}", inside=inside)
        self.place.write("model.py", model)
        self.place.commit("ask")
        code, shown = self.sees("run", *options)
        self.looks()
        assert {"pass": 0, "fail": 1, "pending": 3}.get(self.signal, code) == code, shown
        return self.signal

    def looks(self) -> None:
        """Look at everything that developers may see."""
        for arguments in (("run", "--json"), ("status",), ("status", "--json"), ("log",)):
            self.sees(*arguments)

    @property
    def signal(self) -> str:
        """The signal of the last commit, by the last look."""
        return str(self._last_answer["signal"])

    @property
    def steps_used(self) -> int:
        """How many steps are charged, by the last look."""
        return int(self._last_answer["steps_used"])

    @property
    def _last_answer(self) -> dict[str, Any]:
        answers = [text for _, text in self.seen if '"submission"' in text and '"steps"' in text]
        return dict(json.loads(answers[-1]))

    def piece(self) -> tuple[float, float]:
        """A piece below the cut without a public example, and with a sealed one if ``hit``."""
        public = self.public()
        low, high = next(
            (low, high)
            for low, high in pairwise(sorted(self.inputs()))
            if low > 0.2 and low not in public
        )
        middle = (low + high) / 2
        return (low, middle) if self.hit else (low + 1e-8, middle)

    def inputs(self) -> set[float]:
        """The inputs of all examples that were offered."""
        lines = self.place.examples.read_text("utf-8").splitlines()[1:]
        return {float(line.split(",")[1]) for line in lines}

    def public(self) -> set[float]:
        """The inputs of the public sample."""
        sample = opened(self.place).sealed(opened(self.place).state.testsets[1]).sample
        assert sample is not None
        rows = (sample.examples_folder / "examples.jsonl").read_text("utf-8").splitlines()
        return {float(json.loads(row)["x"]) for row in rows}


@pytest.fixture
def lived(tmp_path: Path, clock: Clock) -> Callable[..., list[Developer]]:
    """Live in both copies, and require that both look the same."""

    def live(life: Callable[[Developer], None], **keys: str) -> list[Developer]:
        developers = []
        for hit in (True, False):
            clock.now = "2026-11-16T05:00:00Z"
            place = copy_of(to_attack, tmp_path / str(hit), **keys)
            developer = Developer(place, hit)
            life(developer)
            developer.looks()
            developers.append(developer)
            assert verify(opened(place)) == []
        assert developers[0].seen == developers[1].seen
        return developers

    return live


Lived = Callable[..., list[Developer]]


def test_the_same_predictions_are_charged(lived: Lived) -> None:
    """Whether they equal the baseline's on sealed examples is not told."""

    def life(developer: Developer) -> None:
        assert developer.asks("return 'other'") == "fail"
        assert developer.steps_used == 1
        assert developer.asks("return 'rare'") == "fail"
        assert developer.steps_used == 2

    lived(life)


@pytest.mark.long
def test_unchanged_depends_on_the_sample_alone(lived: Lived) -> None:
    def life(developer: Developer) -> None:
        assert developer.asks("return 'other'") == "unchanged"
        assert developer.steps_used == 0
        code, shown = developer.sees("run", "--test")
        assert (code, developer.steps_used) == (1, 0)
        assert "Step 1." in shown

    lived(life, unchanged="skip")


def test_a_failing_program_is_charged_and_nobody_reads_why(lived: Lived) -> None:
    def life(developer: Developer) -> None:
        assert developer.asks("raise SystemExit('secret of ' + row['id'])") == "fail"
        assert developer.steps_used == 1
        assert not any("secret" in shown for _, shown in developer.seen)

    with built_for_real():
        hit, missed = lived(life)
    failures = [opened(d.place).state.submissions[0].run_failure for d in (hit, missed)]
    assert (failures[0] is not None, failures[1]) == (True, None)


@pytest.mark.long
def test_a_failing_program_is_charged_while_an_earlier_commit_waits(lived: Lived) -> None:
    """A newer commit does not take its place."""

    def life(developer: Developer) -> None:
        developer.place.commit_cut(0.52)
        developer.sees("run")
        assert developer.asks("raise SystemExit(3)") == "pending"
        developer.place.commit_cut(0.6)
        developer.sees("run")
        developer.looks()
        assert developer.steps_used == 3
        developer.place.easeci("labels", "import", str(developer.place.labels), code=0)

    for developer in lived(life, labelled="no"):
        assert opened(developer.place).state.testsets[1].history == "PFF"


@pytest.mark.long
def test_unusable_predictions_are_charged(lived: Lived) -> None:
    def life(developer: Developer) -> None:
        assert developer.asks("return 'undeclared'") == "fail"
        assert developer.steps_used == 1
        assert not any("undeclared" in shown for _, shown in developer.seen)

    lived(life)


@pytest.mark.long
def test_on_the_sample_a_wrong_class_is_free_and_told(lived: Lived) -> None:
    def life(developer: Developer) -> None:
        developer.place.write("model.py", "def predict(row):\n    return 'Low'\n")
        developer.place.commit("wrong spelling")
        code, shown = developer.sees("run")
        assert code == 5
        assert "none of the declared classes: 'Low'" in " ".join(shown.split())
        developer.looks()
        assert developer.steps_used == 0

    lived(life)


@pytest.mark.long
def test_a_class_that_no_label_has_is_not_refused(lived: Lived) -> None:
    """Neither class is a label of any example here; a refusal would tell that."""

    def life(developer: Developer) -> None:
        assert developer.asks("return 'rare'") == "fail"
        developer.place.write("model.py", "def predict(row):\n    return 'rare'\n")
        developer.place.commit("rare everywhere")
        assert developer.sees("run")[0] == 1
        developer.looks()
        assert developer.steps_used == 2

    lived(life)


@pytest.mark.long
def test_waiting_is_the_same_until_the_tick(lived: Lived, clock: Clock) -> None:
    def life(developer: Developer) -> None:
        assert developer.asks("return 'other'") == "pending"
        developer.place.easeci("labels", "import", str(developer.place.labels), code=0)
        developer.looks()
        assert developer.signal == "pending"
        clock.now = "2026-11-17T05:00:00Z"
        developer.looks()
        assert developer.signal == "fail"

    lived(life, labelled="no", disclose="24h", condition=SMALL_GAIN)


@pytest.mark.long
def test_without_fixed_times_waiting_tells(tmp_path: Path) -> None:
    """As documented: the guarantee then holds for developers who do not use waiting times."""
    signals = []
    for hit in (True, False):
        place = copy_of(to_attack, tmp_path / str(hit), labelled="no", condition=SMALL_GAIN)
        signals.append(Developer(place, hit).asks("return 'other'"))
    assert signals == ["pending", "fail"]


@pytest.mark.long
def test_known_examples_are_left_out_of_the_next_testset(tmp_path: Path) -> None:
    """Examples of the sealed testset and of its sample alike; the owner reads how many."""
    place = copy_of(to_attack, tmp_path / "place")
    place.easeci("testset", "retire", "--reason", "full", code=0)
    known = place.examples.read_text("utf-8").splitlines()[1:17]
    write_examples(place.examples, place.labels, start=EXAMPLES)
    place.examples.write_text(
        "\n".join([*place.examples.read_text("utf-8").splitlines(), *known, ""]), "utf-8"
    )
    done = place.easeci("testset", "add", str(place.examples), code=0)
    state = opened(place).state
    assert sum(state.testsets[2].shared.values()) == len(known)
    assert state.testsets[2].examples == EXAMPLES - SAMPLE
    assert f"{len(known)}" in done.stdout + done.stderr


@pytest.mark.parametrize(("labelled", "settled"), [("no", "sequential"), ("yes", "exact")])
@pytest.mark.long
def test_the_estimator_is_settled_when_the_testset_is_sealed(
    tmp_path: Path, labelled: str, settled: str
) -> None:
    """All labels may arrive in the middle of a test: it goes on as it began."""
    place = copy_of(to_attack, tmp_path / "place", labelled=labelled, estimator="auto")
    place.commit_cut(0.52)
    first = place.easeci("run").returncode
    assert first == (3 if labelled == "no" else 0)
    if labelled == "no":
        place.easeci("labels", "import", str(place.labels), code=0)
    step = opened(place).state.testsets[1].steps[0]
    assert step.verdict is not None
    assert (step.verdict.estimator, step.passed) == (settled, True)
    assert verify(opened(place)) == []
