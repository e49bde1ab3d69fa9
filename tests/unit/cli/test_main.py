"""Every end of the command line is an exit code, none is a traceback."""

from __future__ import annotations

import pytest
import typer

from easeci.cli import main
from easeci.errors import DataError, ExitCode


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (DataError("bad data", hint="mend it"), ExitCode.USAGE),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED),
        (typer.Abort(), ExitCode.INTERRUPTED),
        (ValueError("topsecretlabel"), ExitCode.INTERNAL),
        (SystemExit(1), ExitCode.INTERNAL),
        (typer.Exit(3), ExitCode.WAITING_FOR_LABELS),
    ],
)
def test_every_end_has_its_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    raised: BaseException,
    code: ExitCode,
) -> None:
    """An unexpected error names its type and place, never its message: that may quote a label."""

    def broken(*_arguments: object) -> None:
        raise raised

    monkeypatch.setattr("easeci.service.checks.make_plan", broken)
    assert main.run(["plan", "-c", "n > 0.8 +/- 0.05"]) == code
    shown = capsys.readouterr().err
    assert "topsecretlabel" not in shown
    assert "Traceback" not in shown
    if isinstance(raised, ValueError):
        assert "unexpected ValueError in plan" in shown
    if isinstance(raised, DataError):
        assert "error: bad data\nmend it" in shown
