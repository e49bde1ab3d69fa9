"""What ``labels export`` says of the labels to come."""

from __future__ import annotations

import pytest

from easeci.cli.labels import _show_outlook
from easeci.service.labelling.outlook import LabelOutlook


def said(found: LabelOutlook, capsys: pytest.CaptureFixture[str]) -> str:
    _show_outlook(found)
    return " ".join(capsys.readouterr().out.split())


def test_one_label_and_one_file_are_singular(capsys: pytest.CaptureFixture[str]) -> None:
    words = said(LabelOutlook(positions=(3, 5), needed=1, expected=1, most=2), capsys)
    assert words.startswith(
        "Labelling takes 1 min at 5 s each. The commit takes about 1 more label"
    )
    assert "1 more label (1 such file), at most 2 (1 such file)." in words
    assert "At least 1 label is needed. Import the file from time to time" in words


def test_many_labels_and_files_are_plural(capsys: pytest.CaptureFixture[str]) -> None:
    found = LabelOutlook(positions=tuple(range(1_440)), needed=12, expected=1_500, most=9_000)
    words = said(found, capsys)
    assert words.startswith("Labelling takes 2.0 hours at 5 s each. The commit takes about 1,500")
    assert "1,500 more labels (2 such files), at most 9,000 (7 such files)." in words
    assert "At least 12 labels are needed. Import" in words
