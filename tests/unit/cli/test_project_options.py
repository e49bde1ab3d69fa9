"""The options that name a project."""

from __future__ import annotations

import getpass

import pytest

from easeci.cli.project_options import login_name, say_waiting


@pytest.mark.parametrize("error", [OSError, KeyError])
def test_an_account_without_a_name_is_no_error(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """In a container the user's id may be in no list of accounts."""

    def unknown() -> str:
        raise error("no such user")

    monkeypatch.setattr(getpass, "getuser", unknown)
    assert login_name() == ""


def test_waiting_is_said_beside_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    """So that ``--json`` stays a document."""
    say_waiting()
    said = capsys.readouterr()
    assert said.out == ""
    assert "waiting" in said.err
