"""Declared classes: what is refused, and the line that declares them."""

from __future__ import annotations

import polars as pl
import pytest

from easeci.errors import DataError
from easeci.script import parse_script
from easeci.vault.classes import (
    MOST_SUGGESTED,
    classes_line,
    require_labelled_classes,
    require_predicted_classes,
)

SCRIPT = """\
ml:
  - script: ./test_model.py
  - condition: n > 0.8 +/- 0.05
  - reliability: 0.99
  - mode: fp-free
  - adaptivity: full
  - steps: 4
  - {line}
"""


@pytest.mark.parametrize(
    ("labels", "line"),
    [
        (["stay", "leave", None, "stay"], "classes: [leave, stay]"),
        (["10", "9", "x"], "classes: [9, 10, x]"),
        (["it's", "a, b", "[d]", "#e", "~", "null"], None),
    ],
)
def test_the_line_declares_the_labels(labels: list[str | None], line: str | None) -> None:
    """A script with the line has exactly these classes, whatever letters they have."""
    found = classes_line(pl.Series(labels, dtype=pl.String))
    assert found is not None
    assert line in (None, found)
    declared = parse_script(SCRIPT.format(line=found)).classes
    assert set(declared) == {label for label in labels if label is not None}


def test_no_line_for_no_or_many_labels() -> None:
    """Texts that are all different are not classes, and blanks around one can't be declared."""
    assert classes_line(pl.Series(["a", " b"])) is None
    assert classes_line(pl.Series([None, None], dtype=pl.String)) is None
    many = [f"c{i}" for i in range(MOST_SUGGESTED + 1)]
    assert classes_line(pl.Series(many)) is None
    assert classes_line(pl.Series(many[1:])) is not None


def test_the_first_wrong_spellings_are_named() -> None:
    """How many there are, three of them, shortened; and what is declared."""
    values = pl.Series(["a", "A", "A", "b ", "x" * 100, "y"])
    with pytest.raises(DataError) as raised:
        require_predicted_classes(values, ("a", "b"))
    assert raised.value.message == (
        f"5 of 6 predictions are none of the declared classes: 'A', 'b ', '{'x' * 39}…' and 1 more"
    )
    assert raised.value.hint == "classes: of the script declares 'a', 'b'."


def test_missing_labels_and_undeclared_classes_are_fine() -> None:
    """Labels may come later, and a script need not declare its classes."""
    require_labelled_classes(pl.Series(["a", None], dtype=pl.String), ("a", "b"))
    require_labelled_classes(pl.Series(["c"]), ())
    with pytest.raises(DataError, match="1 of 2 labels are none of the declared classes: 'c'"):
        require_labelled_classes(pl.Series(["c", None, "a"]), ("a", "b"))
