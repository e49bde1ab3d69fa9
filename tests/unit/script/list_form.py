"""A script in the paper's form, for the tests of this folder."""

from __future__ import annotations

LIST_FORM = """\
ml:
  - script     : ./test_model.py
  - condition  : n - o > 0.02 +/- 0.01
  - reliability: 0.9999
  - mode       : fp-free
  - adaptivity : full
  - steps      : 32
"""


def replaced(old: str, new: str) -> str:
    """The script with one text in place of another that it has."""
    assert old in LIST_FORM
    return LIST_FORM.replace(old, new)
