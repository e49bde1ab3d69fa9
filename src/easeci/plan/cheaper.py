"""The smallest change of a script that would halve its labels, and what it gives up.

A few concrete changes are tried in a fixed order, and the first that halves the forecast is named.
The order is by what a change gives up. A lower sensitivity comes first: neither the promise of
safety nor the zone changes. Wider tolerances and a clause on d follow by their size. A lower
reliability is near the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from easeci.plan.assumptions import typical_step
from easeci.plan.clause_shapes import (
    difference_of_accuracies,
    first_beyond_cells,
    upper_bound_of_difference,
)
from easeci.plan.commit_mix import CommitMix
from easeci.plan.forecast import Forecast, forecast
from easeci.plan.meaning import ClausePlace, percent
from easeci.plan.sequential import sequential, sequential_size
from easeci.plan.wording import count, exact
from easeci.script import Comparison, Estimator, Mode, NormalClause, Score, Script

RISKS = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 20))
"""Values of β and δ that are tried, if they are larger than the script's."""
NARROW_D, SMALL_D = Fraction(3, 4), Fraction(1, 2)
"""A clause on d is tried at these shares of what commits are expected to change."""
MOST_EXAMPLES = 100_000_000
"""If a testset needs more examples, no change is looked for: none would make it practical."""
MANY_CLAUSES = 6
FEW_LABELS = 100
"""If a testset's life takes fewer labels, no change is looked for: there is little to save."""


@dataclass(frozen=True)
class Change:
    """A change of the script: what to write, how many labels are left, and what it gives up."""

    write: str
    labels: int
    gives_up: str


@dataclass(frozen=True)
class _Try:
    script: Script
    write: str
    gives_up: str


def cheapest_change(script: Script, mix: CommitMix, now: Forecast) -> Change | None:
    """The first of the changes that halves the labels of the forecast ``now``, or None.

    A change that leaves only one answer to expect is no help, however few labels it takes.
    """
    if now.examples > MOST_EXAMPLES or now.labels < FEW_LABELS or now.none_passes:
        return None
    for attempt in _attempts(script, now):
        estimate = sequential(attempt.script)
        if estimate.applies and not attempt.script.reach_warnings:
            after = forecast(attempt.script, mix, estimate.examples)
            one_answer = after.none_passes or (after.none_fails and not now.none_fails)
            if 2 * after.labels <= now.labels and not one_answer:
                return Change(attempt.write, round(after.labels), attempt.gives_up)
    return None


def _attempts(script: Script, now: Forecast) -> Iterator[_Try]:
    yield from _less_sensitive(script)
    yield from _wider(script, Fraction(3, 2))
    yield from _closer(script, now, NARROW_D)
    yield from _wider(script, Fraction(2))
    yield from _closer(script, now, SMALL_D)
    yield from _less_reliable(script)
    yield from _wider(script, Fraction(3))


def _less_sensitive(script: Script) -> Iterator[_Try]:
    """Lower sensitivities at which giving up takes at most half the evidence.

    Labels fall in proportion to the evidence at best, so others can't halve them.
    """
    good, answer = ("good", "fail") if script.mode is Mode.FP_FREE else ("bad", "pass")
    evidence = typical_step(script).levels.sensitivity
    for beta in (risk for risk in RISKS if risk > script.beta):
        changed = replace(script, sensitivity=1 - beta)
        if 2.0 * typical_step(changed).levels.sensitivity >= evidence:
            yield _Try(
                changed,
                f"sensitivity: {exact(1 - beta)}",
                f"in {_one_in(beta)} a clearly {good} commit may then {answer}",
            )


def _wider(script: Script, factor: Fraction) -> Iterator[_Try]:
    """Each clause that needs labels with a wider tolerance; none if there are many clauses.

    Clauses such as recall(*) have one tolerance for all classes, and a change of one helps little.
    """
    if len(script.clauses) > MANY_CLAUSES and first_beyond_cells(script.clauses) is not None:
        return
    for clause in script.clauses:
        if clause.score.needs_labels:
            tolerance = clause.tolerance * factor
            text = f"{clause.text.rpartition('+/-')[0]}+/- {exact(tolerance)}"
            wider = replace(clause, tolerance=tolerance, text=text)
            clauses = tuple(wider if c is clause else c for c in script.clauses)
            place = ClausePlace.of(wider)
            if script.mode is Mode.FP_FREE:
                name, side = place.good(2, closed=True)
                gives_up = f"a pass is then certain only with {name} {side}"
            else:
                name, side = place.bad(-2, short=False)
                gives_up = f"a fail is then certain only with {name} {side}"
            yield _Try(replace(script, clauses=clauses), f"'{text}'", gives_up)


def _closer(script: Script, now: Forecast, share: Fraction) -> Iterator[_Try]:
    """A clause on d, if there is none yet and the models' difference is what is tested.

    Only in fp-free: in fn-free a commit that changes too much would have to be shown to do so.
    """
    if script.mode is Mode.FN_FREE:
        return
    if not any(difference_of_accuracies(clause.score) for clause in script.clauses):
        return
    if any(upper_bound_of_difference(clause) is not None for clause in script.clauses):
        return
    # A pass is promised up to A − 2B, which is 0.8 A here.
    ceiling = Fraction(f"{float(share) * now.mix.difference * 1.25:.2g}")
    kept = ceiling * Fraction(4, 5)
    text = f"d < {exact(ceiling)} +/- {exact(ceiling / 10)}"
    score = Score.linear(Fraction(0), Fraction(0), Fraction(1))
    clause = NormalClause(score, Comparison.LESS, ceiling, ceiling / 10, text)
    yield _Try(
        replace(script, clauses=(*script.clauses, clause)),
        rf"'/\ {text}' at the end",
        f"that is for commits that change up to {percent(kept)} of the predictions; one that "
        f"changes {percent(ceiling)} then fails",
    )


def _less_reliable(script: Script) -> Iterator[_Try]:
    """Lower reliabilities; a sensitivity that is the same follows."""
    answer = "pass" if script.mode is Mode.FP_FREE else "fail"
    for delta in (risk for risk in RISKS[:-1] if risk > script.delta):
        follows = script.sensitivity == script.reliability
        yield _Try(
            replace(
                script,
                reliability=1 - delta,
                sensitivity=1 - delta if follows else script.sensitivity,
            ),
            f"reliability: {exact(1 - delta)}",
            f"in {_one_in(delta)} a wrong {answer} may then happen",
        )


def change_to_auto(script: Script, labels: int, mix: CommitMix) -> Change | None:
    """The change of a script that names another estimator, if ``auto`` halves its labels."""
    asked = replace(script, estimator=Estimator.SEQUENTIAL)
    after = forecast(asked, mix, sequential_size(asked))
    if 2 * after.labels > labels:
        return None
    given = "labels are then asked for when a commit needs them"
    return Change("estimator: auto", round(after.labels), given)


def _one_in(risk: Fraction) -> str:
    return f"1 of {count(round(1 / risk))} testsets"
