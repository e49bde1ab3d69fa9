"""Whatever is damaged in a store is found."""

from __future__ import annotations

from easeci.service.custody.verify import verify
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
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        assert any(name in sentence for sentence in verify(project)), name
        path.write_bytes(content)
    assert verify(project) == []


def test_an_event_that_was_changed_is_found(sealed: Workplace) -> None:
    project = opened(sealed)
    with project.store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE event SET text = replace(text, '1500', '1501')")
    (sentence,) = verify(project)
    assert "event" in sentence
