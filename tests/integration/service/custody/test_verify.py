"""Whatever is damaged in a store is found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from easeci.ledger.events import Charged, Decided, SealedRunFailed, Submitted, TurnCame
from easeci.service.custody.verify import _wrong, verify
from easeci.service.project import Project
from tests.histories import History
from tests.projects import opened
from tests.repositories import Workplace


def test_a_sound_store_has_no_damage_and_a_changed_file_is_named(sealed: Workplace) -> None:
    """One byte of any file of a sealed testset is enough."""
    project = opened(sealed)
    assert verify(project) == []
    folder = project.sealed(project.state.testsets[1]).folder
    for name in project.state.testsets[1].files:
        path = folder / name
        content = path.read_bytes()
        path.chmod(0o600)
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]) if content else b"1")
        assert any(name in sentence for sentence in verify(project)), name
        path.write_bytes(content)
    assert verify(project) == []


def test_an_event_that_was_changed_is_found(sealed: Workplace) -> None:
    project = opened(sealed)
    with project.store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE event SET text = replace(text, '1520', '1521')")
    (sentence,) = verify(project)
    assert "event" in sentence


def test_an_answer_that_nothing_explains_is_found() -> None:
    """A step beyond the script's, and a fail without a verdict or a failure of its program."""
    history = History.begun(steps="1").add(
        *(
            event
            for number in (1, 2)
            for event in (
                Submitted(number, str(number) * 40, "", "main", True, 1),
                Charged(number, number),
                TurnCame(1, number, "b" * 40, 0),
                Decided(1, number, passed=False, verdict=None),
            )
        ),
        SealedRunFailed(2, "exit code 3"),
    )
    state = history.state
    project = cast(Project, SimpleNamespace(state=state))
    first, second = (_wrong(project, state.testsets[1], step) for step in state.testsets[1].steps)
    assert first == ["its answer has no verdict, and nothing else explains it"]
    assert second == ["the script allows fewer steps"]
