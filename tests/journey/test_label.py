"""Labelling in a real terminal, by keys; and the same verdict however labels come."""

from __future__ import annotations

import csv
import os
import re
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from easeci.service.commits.submit import run
from easeci.service.labelling.files import export_wanted, import_labels
from easeci.service.project import Project, open_project
from easeci.service.testsets.add import Offer, add_testset
from easeci.vault import sealing
from tests.repositories import Workplace
from tests.terminals import CLEAR, Terminal

Said = dict[str, tuple[str, str]]
"""State and label by id."""


def waiting(folder: Path, **keys: str) -> Workplace:
    """A project with a commit that waits for labels."""
    place = Workplace.make(folder, **keys)
    place.commit_cut(0.7)
    script = place.repository / ".easeci.yml"
    project = open_project(place.repository, create=True)
    add_testset(project, Offer(place.examples, script=script))
    run(opened(place))
    place.commit_cut(0.52)
    return place


def opened(place: Workplace) -> Project:
    return open_project(place.repository)


def rows(place: Workplace) -> dict[str, str]:
    """Ids by what is shown of an example."""
    lines = place.examples.read_text().splitlines()[1:]
    return {line.split(",")[1]: line.split(",")[0] for line in lines}


def truth(x: str) -> str:
    return "low" if float(x) < 0.5 else "high"


def value(screen: str) -> str:
    """The example on a screen, which must fit and show nothing of models."""
    lines = screen.split("\n")
    assert len(lines) <= 24
    assert all(len(line) <= 80 for line in lines)
    assert not re.search(r"predict|commit|pass|fail|agree|differ|true|false", screen, re.IGNORECASE)
    (shown,) = re.findall(r"^0\.[0-9]+$", screen, re.MULTILINE)
    return str(shown)


@pytest.fixture
def fixed_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sealing, "_secret_order", lambda size: np.random.default_rng(7).permutation(size)
    )


def label_all(place: Workplace) -> Said:
    """Label to the end, with a skip, a can't tell, an undo, a quit and a killed session between."""
    said: Said = {}
    interrupted(label(place, said, until=4), "q")
    interrupted(label(place, said, until=8), "kill")
    terminal = label(place, said)
    last = terminal.closed()
    assert terminal.process.returncode == 0, last
    assert "Answered now: 1 of the commits" in last
    assert "No labels are wanted." in last
    return said


def interrupted(terminal: Terminal, way: str) -> None:
    if way == "q":
        terminal.send("q")
        assert "goes on from here" in terminal.closed()
    else:
        os.kill(terminal.process.pid, signal.SIGKILL)
        terminal.closed()


def label(place: Workplace, said: Said, until: int | None = None) -> Terminal:
    """Answer one screen after another; the third is skipped, of the seventh nobody can tell."""
    terminal = Terminal("label", "--by", "Ada", folder=place.repository)
    ids, drawn = rows(place), 1
    while len(said) != until and "wanted." not in (shown := terminal.screen(drawn)):
        x = value(shown)
        right = "1" if truth(x) == "low" else "2"
        if len(said) == 3:  # the wrong one first, then taken back
            terminal.send("2" if right == "1" else "1")
            assert value(terminal.screen(drawn + 1)) != x
            terminal.send("u")
            assert value(terminal.screen(drawn + 2)) == x
            drawn += 2
        key = {2: "s", 6: "c"}.get(len(said), right)
        state = {"s": "skipped", "c": "cannot tell"}.get(key, "label")
        said[ids[x]] = (state, truth(x) if state == "label" else "")
        terminal.send(key)
        drawn += 1
    if until is not None:
        terminal.screen(drawn)
    return terminal


def write(path: Path, said: Said) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "label", "state"])
        writer.writerows([name, label, state] for name, (state, label) in said.items())


@pytest.mark.long
def test_the_verdict_is_the_same_by_terminal_by_file_and_beforehand(
    tmp_path: Path, fixed_order: None
) -> None:
    """Apart from how many labels were there beforehand."""
    keys = {"classes": "[low, high]", "sample": "0"}
    by_terminal, by_file, before = (
        waiting(tmp_path / name, **keys) for name in ("terminal", "file", "before")
    )
    run(opened(by_terminal))
    said = label_all(by_terminal)
    everything = {name: ("label", truth(x)) for x, name in rows(before).items()} | said
    write(before.folder / "all.csv", everything)
    import_labels(opened(before), before.folder / "all.csv")
    run(opened(before))
    run(opened(by_file))
    asked = by_file.folder / "ask.csv"
    while export_wanted(opened(by_file), asked).wanted:
        names = [row["id"] for row in csv.DictReader(asked.read_text().splitlines())]
        write(asked, {name: everything[name] for name in names})
        import_labels(opened(by_file), asked)
    verdicts = []
    for place in (by_terminal, by_file, before):
        verdict = opened(place).state.testsets[1].steps[0].verdict
        assert verdict is not None
        verdicts.append(replace(verdict, labels_at_hand=0))
    assert verdicts[0] == verdicts[1] == verdicts[2]
    # Not one label more than the verdict rests on was asked for in the terminal.
    assert verdicts[0].labels == len(said)
    project = opened(by_terminal)
    known = project.sealed(project.state.testsets[1]).labels.known(
        project.state.testsets[1].label_files
    )
    assert known["state"].drop_nulls().to_list().count("skipped") == 1
    assert [record.kind for record in project.store.records("model")].count("LabelsAdded") == 2


def test_nothing_waits(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    terminal = Terminal("label", folder=place.repository)
    assert "No labels are wanted." in terminal.closed()
    assert terminal.process.returncode == 0
    done = place.easeci("label", code=2)
    assert "needs a terminal" in done.stderr


@pytest.mark.long
def test_new_classes_long_texts_and_control_characters(tmp_path: Path) -> None:
    """Classes are typed where none are declared; nothing in an example reaches the terminal raw."""
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    lines = place.examples.read_text().splitlines()
    text = "\x1b[31mRED\x07 " + "many words " * 400
    lines = ["id,x,text", *(f'{line},"{text}"' for line in lines[1:])]
    place.examples.write_text("\n".join([*lines, ""]))
    place.add_testset(labelled=False)
    run(opened(place))
    place.commit_cut(0.52)
    run(opened(place))
    terminal = Terminal("label", folder=place.repository)
    first = terminal.screen(1)
    assert "page 1 of" in first
    assert "\x1b" not in first
    assert "\x07" not in terminal.text
    assert "[31mRED" in first
    assert "n new class" in first
    terminal.send(" ")
    assert "page 2 of" in terminal.screen(2)
    terminal.send("n")
    terminal.screen(2, "class: ")
    terminal.send("low\n")
    terminal.screen(2, "y/n ")
    terminal.send("y")
    assert "1 low" in terminal.screen(3)
    terminal.send("9")
    assert "no class of that number" in terminal.screen(4)
    other = Terminal("label", folder=place.repository)
    assert "already" in other.closed()
    terminal.send("\x03")
    assert "Answers recorded: 1." in terminal.closed()
    assert terminal.process.returncode == 130
    assert CLEAR in terminal.text
    testset = opened(place).state.testsets[1]
    assert testset.labels == 1
    frame = opened(place).sealed(testset).files.load_table(testset.label_files[0])
    assert frame["by"].to_list() == ["ada"]
    assert frame["at"][0].endswith("Z")
