"""What a condition means: the sentence says the contract, in percent and points."""

from __future__ import annotations

import re
from fractions import Fraction

from easeci.plan import Promise, Truth
from easeci.plan.meaning import ClausePlace, meaning, points
from easeci.plan.truth import promised
from easeci.script import Mode
from easeci.service.scripts import make_script
from tests.cases import each_case


@each_case(
    ("condition", "keys", "sentence"),
    [
        (
            "n - o > 0.02 +/- 0.01",
            {},
            "n - o: passes (99.99%) from +4.0 points, if the examples suffice; never (99.99%) at "
            "or below +2.0; in between it may fail",
        ),
        (
            "n - o > 0.02 +/- 0.01",
            {"sensitivity": 0.95},
            "n - o: passes (95%) from +4.0 points, if the examples suffice; never (99.99%) at or "
            "below +2.0; in between it may fail",
        ),
        (
            "n - o > 0.02 +/- 0.01",
            {"sensitivity": 0.95, "estimator": "hoeffding"},
            "n - o: passes (99.99%) from +4.0 points, if the examples suffice; never (99.99%) at "
            "or below +2.0; in between it may fail",
        ),
        (
            "n - o > 0 +/- 0.01",
            {"mode": "fn-free", "sensitivity": 0.95},
            "n - o: passes (99.99%) above 0.0 points; never (95%) at or below -2.0, if the "
            "examples suffice; in between it may pass",
        ),
        (
            "n > 0.9 +/- 0.01",
            {},
            "n: passes (99.99%) from 92.0%, if the examples suffice; never (99.99%) at or below "
            "90.0%; in between it may fail",
        ),
        (
            "d < 0.1 +/- 0.01",
            {"mode": "fn-free"},
            "d: passes (99.99%) below 10.0%; never (99.99%) at or above 12.0%, if the examples "
            "suffice; in between it may pass",
        ),
        (
            r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01",
            {},
            "passes (99.99%) with n - o from +4.0 points and d up to 8.0%, if the examples "
            "suffice; never (99.99%) with n - o at or below +2.0 or d at or above 10.0%; in "
            "between it may fail",
        ),
        (
            "n - 1.1 * o > -0.01 +/- 0.0025",
            {},
            "n - 1.1 * o: passes (99.99%) from -0.5 points, if the examples suffice; never "
            "(99.99%) at or below -1.0; in between it may fail",
        ),
        (
            "n > 0.9 +/- 0.08",
            {},
            "n: no commit is certain to pass; never (99.99%) at or below 90.0%; in between it may "
            "fail",
        ),
        (
            "n > 0.1 +/- 0.08",
            {"mode": "fn-free"},
            "n: passes (99.99%) above 10.0%; no commit is certain to fail; in between it may pass",
        ),
        (r"d < 0.1 +/- 0.01 /\ n - o > 0.2 +/- 0.01", {}, "no commit can pass"),
    ],
)
def test_the_sentence(condition: str, keys: dict[str, object], sentence: str) -> None:
    assert meaning(make_script(condition, **keys)) == sentence


@each_case("mode", list(Mode))
@each_case(
    "condition",
    ["n - o > 0.02 +/- 0.01", "o - n < 0.01 +/- 0.003", "2 * n > 1.6 +/- 0.02", "n > 0.7 +/- 0.1"],
)
def test_its_numbers_are_where_the_promises_begin(condition: str, mode: Mode) -> None:
    """At each number the contract promises the answer, and a little inside the zone it does not."""
    script = make_script(condition, mode=mode)
    passes, never = (
        Fraction(x) / 100
        for x in re.findall(r"[+-]?[\d.]+(?=%;|%,| poi|;|,)", meaning(script).split(": ")[1])[:2]
    )
    place, clause = ClausePlace.of(script.clauses[0]), script.clauses[0]
    scale = clause.tolerance / place.tolerance

    def promise(value: Fraction, inside: Fraction) -> Promise:
        effect = (value - place.threshold) * scale + inside
        return promised(script, Truth(effect, Fraction(1, 2)))

    step = Fraction(1, 10**6)
    above = step if mode is Mode.FN_FREE else 0  # fn-free promises a pass *above* its number
    assert promise(passes, Fraction(above)) is Promise.PASS
    assert promise(passes, -step) is Promise.EITHER
    assert promise(never, Fraction(0)) is Promise.FAIL
    assert promise(never, step) is Promise.EITHER


def test_numbers_have_as_many_decimals_as_they_need() -> None:
    values = [points(Fraction(text)) for text in ("0.04", "0.0205", "-0.5", "0", "1/3")]
    assert values == ["+4.0", "+2.05", "-50.0", "0.0", "+33.333"]


@each_case(
    ("condition", "name"),
    [
        ("recall(fraud) > 0.8 +/- 0.02", "recall of fraud"),
        ("n.f1(fraud) > 0.8 +/- 0.02", "F1 of fraud"),
        ("o.precision(fraud) > 0.8 +/- 0.02", "precision of fraud of the old model"),
        ("auc(fraud) > 0.8 +/- 0.02", "AUC of fraud"),
        ("recall(fraud)[lang=de] > 0.8 +/- 0.02", "recall of fraud where lang=de"),
        ("recall(fraud)[lang=*] > 0.8 +/- 0.02", "recall of fraud for each lang"),
        ("n[lang=de] > 0.8 +/- 0.02", "n[lang=de]"),
    ],
)
def test_measures_have_names_that_people_say(condition: str, name: str) -> None:
    sentence = meaning(make_script(condition))
    assert sentence.startswith(
        f"{name}: passes (99.99%) from 84.0%, if the examples suffice; never"
    )


@each_case(
    ("condition", "from_there"),
    [
        ("n.recall(a) - o.recall(a) > -0.01 +/- 0.01", "from +1.0 points"),
        ("n / o > 1.05 +/- 0.02", "from 109.0%"),
        ("n - top(3) > 0 +/- 0.01", "from +2.0 points"),
        ("precision(a) < 0.3 +/- 0.05", "up to 20.0%"),
    ],
)
def test_differences_are_in_points_and_ratios_in_percent(condition: str, from_there: str) -> None:
    assert from_there in meaning(make_script(condition))
