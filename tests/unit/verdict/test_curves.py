"""The curves of the evidence end at the verdict's values, and reach a target only there."""

from __future__ import annotations

import math

import numpy as np
import pytest

from easeci.evidence.cells import Code
from easeci.evidence.codes import Codes
from easeci.evidence.endings import Ending
from easeci.evidence.wealth import ROUNDING
from easeci.script import Script
from easeci.service.scripts import make_script
from easeci.verdict.curves import ClauseCurves, evidence_curves
from easeci.verdict.decide import decide
from tests.cases import each_case

GAIN = "n - o > 0.02 +/- 0.1"
BOTH = "n - o > -0.1 +/- 0.1 /\\ n > 0.6 +/- 0.1 /\\ d < 0.6 +/- 0.1"
LAWS = {
    "better": [0.5, 0.1, 0.35, 0.05, 0.0],
    "equal": [0.5, 0.1, 0.18, 0.18, 0.04],
    "worse": [0.3, 0.3, 0.05, 0.3, 0.05],
}


def wanted(condition: str, mode: str = "fp-free") -> Script:
    return make_script(condition, mode=mode, reliability="0.99", estimator="sequential")


def draw(law: list[float], size: int = 1500, seed: int = 3) -> Codes:
    return np.random.default_rng(seed).choice(5, size, p=law).astype(np.uint8)


def brute_force(script: Script, codes: Codes, position: int, labels: int) -> tuple[float, float]:
    """Proof and futility of a clause after so many labels: a verdict that has no more of them."""
    relevant = np.arange(len(codes))
    if not script.clauses[position].score.counts_everywhere:
        relevant = np.flatnonzero(codes >= Code.NEW_RIGHT)
    hidden = np.where(codes < Code.NEW_RIGHT, Code.AGREE_UNLABELLED, Code.DIFFER_UNLABELLED)
    known = hidden.astype(np.uint8)
    known[relevant[:labels]] = codes[relevant[:labels]]
    evidence = decide(script, known, "").clauses[position].evidence
    assert evidence is not None
    assert evidence.labels == labels
    return evidence.proof.evidence, evidence.futility.evidence


def ends(script: Script, codes: Codes) -> list[tuple[ClauseCurves, object]]:
    verdict = decide(script, codes, "")
    curves = evidence_curves(script, codes, "")
    return list(zip(curves, [c.evidence for c in verdict.clauses], strict=True))


@each_case("law", LAWS)
@each_case("mode", ["fp-free", "fn-free"])
@each_case("condition", [GAIN, BOTH, "n > 0.6 +/- 0.1", "d < 0.4 +/- 0.1"])
@each_case("missing", [0, 1400])
def test_the_last_point_is_what_the_verdict_reports(
    law: str, mode: str, condition: str, missing: int
) -> None:
    """The ends are equal, also if labels are missing, or if another clause ended the walk."""
    codes = draw(LAWS[law])
    if missing:
        rest = codes[-missing:]
        codes[-missing:] = np.where(rest < 2, Code.AGREE_UNLABELLED, Code.DIFFER_UNLABELLED)
    codes[::40] = np.where(codes[::40] < 2, Code.AGREE_UNSETTLED, Code.DIFFER_UNSETTLED)
    script = wanted(condition, mode)
    for found, drawn in zip(
        decide(script, codes, "").clauses, evidence_curves(script, codes, ""), strict=True
    ):
        last = (drawn.low[-1], drawn.high[-1])
        shown = (float(found.interval.low), float(found.interval.high))
        assert last == pytest.approx(shown, abs=1e-10)
        assert len(drawn.low) == len(drawn.high) == len(drawn.labels)
    for curves, evidence in ends(script, codes):
        assert evidence is not None
        assert curves.labels[0] == 0
        assert curves.labels[-1] == evidence.labels  # type: ignore[attr-defined]
        assert curves.ending is evidence.ending  # type: ignore[attr-defined]
        for curve, end in (
            (curves.proof, evidence.proof),  # type: ignore[attr-defined]
            (curves.futility, evidence.futility),  # type: ignore[attr-defined]
        ):
            assert curve.target == end.target
            assert curve.evidence[-1] == pytest.approx(end.evidence, abs=1e-12)
            assert len(curve.evidence) == len(curves.labels)


@each_case(("law", "ending"), [("better", Ending.PROVEN), ("worse", Ending.FUTILE)])
def test_what_is_shown_first_reaches_its_bar_with_the_last_label(law: str, ending: Ending) -> None:
    """Each point equals the evidence of a verdict that knows only the labels so far."""
    script, codes = wanted(GAIN), draw(LAWS[law])
    (curves,) = evidence_curves(script, codes, "")
    assert curves.ending is ending
    last = curves.labels[-1]
    assert curves.labels == tuple(range(last + 1))
    for labels in range(last):
        found = (curves.proof.evidence[labels], curves.futility.evidence[labels])
        assert found == pytest.approx(brute_force(script, codes, 0, labels), abs=1e-12)
    shown = curves.proof if ending is Ending.PROVEN else curves.futility
    reached = [value >= shown.target + ROUNDING for value in shown.evidence]
    assert reached == [False] * last + [True]


def test_a_long_way_is_thinned_and_keeps_both_ends() -> None:
    script, codes = wanted("n > 0.8 +/- 0.01"), draw([0.805, 0.195, 0.0, 0.0, 0.0], 20_000)
    (whole,) = evidence_curves(script, codes, "", most=10**6)
    (thin,) = evidence_curves(script, codes, "")
    assert len(whole.labels) > 2_000
    assert len(thin.labels) <= 400
    assert (thin.labels[0], thin.labels[-1]) == (0, whole.labels[-1])
    assert set(np.diff(thin.labels)) <= {math.floor(g := whole.labels[-1] / 399), math.ceil(g)}
    for labels, value in zip(thin.labels, thin.proof.evidence, strict=True):
        assert value == pytest.approx(whole.proof.evidence[labels], abs=1e-12)


def test_only_the_sequential_estimator_has_a_course() -> None:
    script = make_script(GAIN, estimator="exact")
    assert evidence_curves(script, draw(LAWS["equal"]), "") == ()
