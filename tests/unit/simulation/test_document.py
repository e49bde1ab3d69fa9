"""A simulation as JSON."""

from __future__ import annotations

import json
from fractions import Fraction

from easeci.script import Estimator
from easeci.simulation import Developer, Finding, Rate, Simulation
from easeci.simulation.document import FINDINGS, simulation_document
from easeci.simulation.report import LabelUse, Measured, Round
from tests.scripts import script


def test_every_finding_has_its_own_word() -> None:
    assert set(FINDINGS) == set(Finding)
    assert len(set(FINDINGS.values())) == len(Finding)


def test_a_document_survives_json_and_says_what_was_measured() -> None:
    use = LabelUse.of([3, 5, 5, 40], 40)
    measured = tuple(
        Measured(developer, None, Rate(broken, 40), promised, use)
        for developer, broken, promised in (
            (Developer.EDGE, 30, Fraction(1, 10)),
            (Developer.MIDDLE, 0, None),
        )
    )
    one = Round(script("n > 0.5 +/- 0.1"), Estimator.EXACT, 50, 100, 6, measured)
    document = json.loads(json.dumps(simulation_document(Simulation(7, (one,)))))
    assert (document["seed"], document["broken"]) == (7, True)
    (found,) = document["rounds"]
    assert (found["examples"], found["examples_planned"], found["commits"]) == (50, 100, 6)
    edge, middle = found["developers"]
    assert (edge["developer"], edge["finding"], edge["rate"]) == ("edge", "broken", 0.75)
    assert edge["interval"][0] < 0.75 < edge["interval"][1]
    assert (middle["promised"], middle["finding"]) == (None, "not promised")
    assert sum(edge["labels"]["histogram"]) == edge["labels"]["commits"] == 4
