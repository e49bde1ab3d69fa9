"""A script comes back from its record exactly as the owner wrote it."""

from __future__ import annotations

import json

from easeci.ledger.sealed_script import sealed, sealed_terms, unsealed
from easeci.script import parse_script
from easeci.script.document import parse_entries
from tests.unit.script.list_form import LIST_FORM

MORE = """\
  - sensitivity: 95%
  - estimator: sequential
  - difference: 0.1
  - classes: [low, "3", high]
  - disclose: 24h
  - mounts: [/data/weights, /data/more]
"""


def test_a_script_survives_its_record() -> None:
    """Also as JSON: constants are texts, so that none is rounded."""
    for text in (LIST_FORM, LIST_FORM + MORE, LIST_FORM.replace("full", "none -> a@b.org")):
        recorded = json.loads(json.dumps(sealed(parse_entries(text, "file"))))
        assert unsealed(recorded) == parse_script(text)


def test_the_terms_are_those_of_the_whole_script() -> None:
    """Read without parsing the condition, they say what the parsed script says."""
    for change in ("n - o > 0.02 +/- 0.01", "n -   o\n      > 0.02 +/- 0.01"):
        text = LIST_FORM.replace("n - o > 0.02 +/- 0.01", change)
        recorded = sealed(parse_entries(text, "file"))
        terms, script = sealed_terms(recorded), unsealed(recorded)
        assert terms.condition == str(script.condition)
        assert (terms.reliability, terms.mode) == (script.reliability, script.mode)
        assert (terms.adaptivity, terms.steps) == (script.adaptivity, script.steps)


def test_a_pattern_that_an_older_version_sealed_does_not_keep_a_script_from_being_read() -> None:
    """It matched no branch then, and matches none now."""
    recorded = sealed(parse_entries(LIST_FORM, "file"))
    assert unsealed({**recorded, "branches": ["side", "feature/[ab]"]}).branches == ("side",)
    assert unsealed({**recorded, "branches": ["feature/[ab]"]}).branches == ()
