"""A simulation as JSON."""

from __future__ import annotations

import json
from fractions import Fraction

from easeci.script import Estimator
from easeci.simulation import Developer, Finding, Rate, Simulation
from easeci.simulation.document import FINDINGS, simulation_document
from easeci.simulation.report import LabelUse, LifeLabels, MeanLabels, Measured, Round
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
    assert edge["life"] is None


def test_a_document_has_the_labels_of_whole_lives() -> None:
    life = LifeLabels(32, MeanLabels(3000.0, 100.0), MeanLabels(93.75, 3.1))
    use = LabelUse.of([3], 3)
    measured = Measured(Developer.MIXED, None, Rate(0, 40), None, use, life)
    one = Round(script("n > 0.5 +/- 0.1"), Estimator.SEQUENTIAL, 50, 100, 6, (measured,))
    document = json.loads(json.dumps(simulation_document(Simulation(7, (one,)))))
    assert document["rounds"][0]["developers"][0]["life"] == {
        "commits": 32,
        "per_life": {"mean": 3000.0, "error": 100.0},
        "per_commit": {"mean": 93.75, "error": 3.1},
    }
