"""Five developers, and the life of a testset with one of them.

edge      every commit exactly at a threshold: a proof would be wrong
middle    every commit in the middle of the zone: no answer is wrong, and most labels are needed
clear     every commit just beyond the zone: any answer but the proof would be wrong
adaptive  probes the zone, then follows the noise that the answers revealed, at the threshold
mixed     the mix of commits that a forecast assumes, over a whole life: measures labels alone

The engine that users run gives the answers; nothing here knows how it decides.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from easeci.errors import UsageError
from easeci.evidence.codes import Codes
from easeci.evidence.facts import Facts
from easeci.evidence.levels import FAIL, PASS, proof_bit
from easeci.plan import Plan
from easeci.plan.assumptions import PROOFS
from easeci.plan.commit_mix import MIXED, CommitMix
from easeci.script import Adaptivity, Estimator, Mode, Script
from easeci.simulation.attack import Attack
from easeci.simulation.laws import Law, Laws
from easeci.simulation.mixed import SharedLabels, draw_commit, draw_gains, right_after
from easeci.simulation.mixed_models import MixedModels
from easeci.simulation.scored import DrawnScores, right_or_wrong
from easeci.simulation.worlds import World, beyond_cells
from easeci.verdict.decide import decide

EXACT_LEVELS = (Estimator.EXACT, Estimator.SEQUENTIAL)
"""Estimators whose levels depend on the history; those of the published ones do not."""


class Developer(StrEnum):
    """Which developer commits, see the top of this module."""

    EDGE = "edge"
    MIDDLE = "middle"
    CLEAR = "clear"
    ADAPTIVE = "adaptive"
    MIXED = "mixed"


def developer_named(name: str) -> Developer:
    """The developer of this name."""
    if name not in list(Developer):
        raise UsageError(f"there is no developer {name!r}", hint=f"Use {', '.join(Developer)}.")
    return Developer(name)


@dataclass(frozen=True)
class Case:
    """One developer, on testsets of one size; ``number`` makes its random numbers its own."""

    plan: Plan
    developer: Developer
    laws: Laws
    examples: int
    commits: int
    seed: int
    number: int

    @property
    def script(self) -> Script:
        """The script of the plan."""
        return self.plan.script

    @cached_property
    def drawn(self) -> Script:
        """The script whose laws are drawn: about n, o and d in place of scores of outputs."""
        return right_or_wrong(self.script)

    @cached_property
    def scores(self) -> DrawnScores | None:
        """How scores of outputs are drawn, if the script is about them."""
        return DrawnScores.of(self.script)

    def facts(self, codes: Codes) -> Codes | Facts:
        """What the engine sees of models with these codes of n, o and d."""
        return codes if self.scores is None else self.scores.of_codes(codes)

    def draw(
        self, law: Law | World, draw: np.random.Generator, *, graded: bool = False
    ) -> Codes | Facts:
        """Models of a law; scores may be graded."""
        if self.scores is not None:
            return self.scores.draw(law, self.examples, draw, graded=graded)
        if isinstance(law, World):
            return law.draw(self.examples, draw)
        return draw.choice(len(law), self.examples, p=law).astype(np.uint8)


@dataclass(frozen=True)
class SimulatedCommit:
    """The facts that the engine sees, and the answer that would break a promise, or None."""

    codes: Codes | Facts
    wrong: str | None


@dataclass(frozen=True)
class Life:
    """A testset's life: its answers, the labels of each, and whether the last one was wrong.

    ``new_labels`` are those labels of each commit that no commit before it had used. Only the
    models of ``mixed`` share their examples; for the others it counts all labels.
    """

    history: str
    labels: tuple[int, ...]
    new_labels: tuple[int, ...]
    broken: bool


Commits = Generator[SimulatedCommit, str, None]
"""Yields commits and receives the answer to each."""


def simulate_life(case: Case, testset: int) -> Life:
    """Simulate one testset until it has served its commits, is retired, or broke its promise."""
    draw = np.random.default_rng([case.seed, case.number, testset])
    commits = _COMMITS[case.developer](case, testset, draw)
    script = replace(case.script, estimator=case.plan.chosen.estimator)
    shared = SharedLabels(case.examples) if case.developer is Developer.MIXED else None
    history, labels, new_labels = "", [], []
    answer: str | None = None
    broken = False
    while len(history) < case.commits and not broken:
        try:
            commit = next(commits) if answer is None else commits.send(answer)
        except StopIteration:
            break
        at_hand = None if shared is None else shared.known
        verdict = decide(script, commit.codes, history, at_hand=at_hand)
        assert verdict.passed is not None
        answer = PASS if verdict.passed else FAIL
        history += answer
        labels.append(verdict.labels)
        new_labels.append(
            verdict.labels if shared is None else shared.add(verdict, commit.codes, script)
        )
        broken = answer == commit.wrong
        if _retires(case.script, answer):
            break
    return Life(history, tuple(labels), tuple(new_labels), broken)


def _retires(script: Script, answer: str) -> bool:
    return script.adaptivity is Adaptivity.FIRST_CHANGE and answer == proof_bit(script.mode)


def clear_commits(plan: Plan, commits: int) -> int:
    """How many clearly good commits a testset is sized for.

    A plan for levels by history assumes a share of proofs. Beyond it safety still holds, but the
    testset may be too small to show more gains. Levels that are the same for every step have no
    such limit. Under firstChange the first proof retires the testset.
    """
    script = plan.script
    if plan.chosen.estimator not in EXACT_LEVELS:
        return commits
    if script.adaptivity is Adaptivity.FIRST_CHANGE:
        return 1
    if script.adaptivity is Adaptivity.NONE and not script.needs_old_model:
        return commits
    return min(commits, 1 + round((script.steps - 1) * PROOFS))


def developers_for(plan: Plan, laws: Laws) -> tuple[Developer, ...]:
    """The developers that are possible.

    A score may be unable to reach a place, and a developer who hears no answers can't adapt.
    """
    found = [
        developer
        for developer, places in (
            (Developer.EDGE, laws.edge),
            (Developer.MIDDLE, laws.middle),
            (Developer.CLEAR, laws.clear),
        )
        if any(law is not None for law in places)
    ]
    attackable = not beyond_cells(right_or_wrong(plan.script)) and _attackable(laws)
    if plan.script.adaptivity is not Adaptivity.NONE and attackable:
        found.append(Developer.ADAPTIVE)
    return (*found, Developer.MIXED)


def _attackable(laws: Laws) -> list[int]:
    pairs = zip(laws.edge, laws.middle, strict=True)
    return [i for i, (edge, middle) in enumerate(pairs) if edge is not None and middle is not None]


def _in_turn(
    case: Case,
    places: tuple[Law | World | None, ...],
    wrong: str | None,
    count: int,
    testset: int,
    draw: np.random.Generator,
) -> Commits:
    """New models at a place, for each clause in turn; testsets begin with different clauses.

    Scores of outputs are 0 and 1 in one turn, and graded in the next.
    """
    laws = [law for law in places if law is not None]
    for step in range(count):
        turn, which = divmod(testset + step, len(laws))
        yield SimulatedCommit(case.draw(laws[which], draw, graded=turn % 2 == 1), wrong)


def _edge(case: Case, testset: int, draw: np.random.Generator) -> Commits:
    wrong = proof_bit(case.script.mode)
    return _in_turn(case, case.laws.edge, wrong, case.commits, testset, draw)


def _middle(case: Case, testset: int, draw: np.random.Generator) -> Commits:
    return _in_turn(case, case.laws.middle, None, case.commits, testset, draw)


def _clear(case: Case, testset: int, draw: np.random.Generator) -> Commits:
    wrong = FAIL if case.script.mode is Mode.FP_FREE else PASS
    count = clear_commits(case.plan, case.commits)
    return _in_turn(case, case.laws.clear, wrong, count, testset, draw)


def _adaptive(case: Case, testset: int, draw: np.random.Generator) -> Commits:
    """Half of the commits probe. The others attack; after each, the oldest probe is dropped."""
    attackable = _attackable(case.laws)
    index = attackable[testset % len(attackable)]
    edge, middle = case.laws.edge[index], case.laws.middle[index]
    assert isinstance(edge, np.ndarray)
    assert isinstance(middle, np.ndarray)
    clauses, mode = case.drawn.clauses, case.script.mode
    attack = Attack(clauses[index], clauses[:index] + clauses[index + 1 :], mode, middle)
    pattern = attack.pattern(case.examples, draw)
    proof = proof_bit(mode)
    probes: list[Codes] = []
    leanings: list[int] = []
    for _ in range(case.commits // 2):
        probes.append(attack.probe(pattern, draw))
        answer = yield SimulatedCommit(case.facts(probes[-1]), None)
        leanings.append(1 if answer == proof else -1)
    for _ in range(case.commits - case.commits // 2):
        codes = attack.commit(pattern, probes, leanings, draw) if probes else None
        drawn = case.draw(edge, draw) if codes is None else case.facts(codes)
        yield SimulatedCommit(drawn, proof)
        if len(probes) > 1:
            probes, leanings = probes[1:], leanings[1:]


def _mixed(case: Case, testset: int, draw: np.random.Generator) -> Commits:  # noqa: ARG001
    """Commits of the stated mix; each that passes is the baseline of the next ones."""
    mix = MIXED.fitted(case.script)
    if beyond_cells(case.drawn):
        yield from _mixed_world(case, mix, draw)
        return
    gains = draw_gains(mix, case.commits, draw)
    right = draw.random(case.examples) < mix.accuracy
    for gain in gains:
        codes = draw_commit(right, float(gain), mix, draw)
        answer = yield SimulatedCommit(case.facts(codes), None)
        if answer == PASS:
            right = right_after(codes)


def _mixed_world(case: Case, mix: CommitMix, draw: np.random.Generator) -> Commits:
    models = MixedModels(case.script, case.examples, mix, draw)
    for gain in draw_gains(mix, case.commits, draw):
        facts = models.commit(float(gain))
        if case.scores is not None:
            facts = case.scores.of_codes(facts.cells, facts.slices)
        answer = yield SimulatedCommit(facts, None)
        models.answered(passed=answer == PASS)


_COMMITS = {
    Developer.EDGE: _edge,
    Developer.MIDDLE: _middle,
    Developer.CLEAR: _clear,
    Developer.ADAPTIVE: _adaptive,
    Developer.MIXED: _mixed,
}
