"""Script → Simulation: draw testsets and simulate them, in one or more processes.

Every testset has its own random numbers, so that a seed gives the same result with any number of
processes, in any order.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from fractions import Fraction

from easeci.errors import UsageError
from easeci.plan import Plan, plan
from easeci.plan.assumptions import COMMON_DIFFERENCE
from easeci.script import Estimator, Script
from easeci.simulation.developers import Case, Developer, Life, developers_for, simulate_life
from easeci.simulation.laws import Laws
from easeci.simulation.report import Round, Simulation, measure
from easeci.simulation.scored import right_or_wrong
from easeci.simulation.worlds import beyond_cells, concrete

VISIBLE = Fraction(1, 50)
"""Below this, errors are too rare to be seen in a simulation of reasonable length."""
LARGER_DELTA = Fraction(1, 10)
FEWER, FEWEST = 16, 5
"""If no error can be seen, one testset in 16 (at least 5) is enough to measure labels."""
CHUNK = 4
"""How many testsets a process gets at a time."""


@dataclass(frozen=True)
class SimulationSize:
    """The size of a simulation: testsets per developer, and commits and examples of each.

    ``life`` is the most commits of a testset with the developer ``mixed``, whose labels are counted
    over a whole life.
    """

    testsets: int = 200
    commits: int = 6
    examples: int = 100_000
    life: int = 64

    def __post_init__(self) -> None:
        for name in ("testsets", "commits", "examples", "life"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1")


Progress = Callable[[int, int], None]
"""Called with the number of testsets that are done, and the number of all."""


@dataclass(frozen=True)
class _PlannedRound:
    plan: Plan
    planned: int
    cases: tuple[Case, ...]
    testsets: tuple[int, ...]


def simulate(
    script: Script,
    *,
    limits: SimulationSize | None = None,
    developer: Developer | None = None,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
) -> Simulation:
    """Draw models where promises are tested, and count how often a promise is broken.

    With a ``developer``, only this one commits, on all testsets. More than one worker starts
    processes, which import the main module again: it must guard what it runs with
    ``if __name__ == "__main__"``.
    """
    if seed < 0:
        raise UsageError("the seed must not be negative", hint="Use any whole number from 0 on.")
    if workers < 1:
        raise UsageError("workers must be at least 1")
    limits = limits or SimulationSize()
    script = concrete(script)
    drawn = right_or_wrong(script)  # refuses what can't be drawn
    if developer is Developer.ADAPTIVE and beyond_cells(drawn):
        raise UsageError(
            "the developer adaptive is only simulated for conditions on n, o and d, without slices",
            hint="Use edge, middle, clear or mixed.",
        )
    rounds = _rounds(script, limits, developer, seed)
    tasks = [
        (case, testset)
        for one in rounds
        for case, testsets in zip(one.cases, one.testsets, strict=True)
        for testset in range(testsets)
    ]
    if not tasks:
        raise UsageError("no possible models are at a threshold of this condition")
    lives = _simulate_all(tasks, workers, progress or (lambda _done, _total: None))
    return Simulation(seed, tuple(_summarise(one, lives) for one in rounds))


def _rounds(
    script: Script, limits: SimulationSize, developer: Developer | None, seed: int
) -> list[_PlannedRound]:
    commits = min(script.steps, limits.commits)
    if min(script.delta, script.beta) >= VISIBLE:
        return [_round(script, limits, developer, limits.testsets, seed)]
    few = limits.testsets if developer is Developer.MIXED else _few_testsets(limits.testsets)
    rounds = [_round(script, limits, developer, few, seed)]
    if developer is not Developer.MIXED:  # it measures labels, which are seen at every δ
        larger = replace(
            script, reliability=1 - LARGER_DELTA, sensitivity=1 - LARGER_DELTA, steps=commits
        )
        rounds.append(_round(larger, limits, developer, limits.testsets, seed, larger=True))
    return rounds


def _few_testsets(testsets: int) -> int:
    return min(testsets, max(FEWEST, testsets // FEWER))


def _round(
    script: Script,
    limits: SimulationSize,
    developer: Developer | None,
    testsets: int,
    seed: int,
    *,
    larger: bool = False,
) -> _PlannedRound:
    made = plan(_sized(script))
    sizes = (made.chosen.examples, made.chosen.unlabelled)
    planned = max(size for size in sizes if size is not None)
    if made.chosen.in_each_slice is not None:
        planned = max(planned, 2 * made.chosen.in_each_slice)  # a slice is half of a testset
    laws = Laws.of(script)
    cases = tuple(
        Case(
            plan=made,
            developer=one,
            laws=laws,
            examples=min(planned, limits.examples),
            commits=min(script.steps, limits.life if one is Developer.MIXED else limits.commits),
            seed=seed,
            number=list(Developer).index(one) + (len(Developer) if larger else 0),
        )
        for one in developers_for(made, laws)
        if (one is developer or developer is None) and not (larger and one is Developer.MIXED)
    )
    # Nothing is promised in the zone and for a mix: there we only measure labels, and few testsets
    # are enough, unless the caller asked for this developer.
    few = testsets if developer else min(testsets, _few_testsets(limits.testsets))
    unpromised = (Developer.MIDDLE, Developer.MIXED)
    counts = tuple(few if case.developer in unpromised else testsets for case in cases)
    return _PlannedRound(made, planned, cases, counts)


def _sized(script: Script) -> Script:
    """The script with a difference for Pattern 2, which has no size without one."""
    if script.estimator is Estimator.PATTERN2 and script.difference is None:
        return replace(script, difference=COMMON_DIFFERENCE)
    return script


def _summarise(one: _PlannedRound, lives: dict[tuple[int, int], Life]) -> Round:
    own = [
        [lives[case.number, testset] for testset in range(testsets)]
        for case, testsets in zip(one.cases, one.testsets, strict=True)
    ]
    end = max((count for group in own for life in group for count in life.labels), default=1)
    examples = one.cases[0].examples if one.cases else one.planned
    measured = tuple(
        measure(case, group, end, capped=examples < one.planned)
        for case, group in zip(one.cases, own, strict=True)
    )
    return Round(
        script=one.plan.script,
        estimator=one.plan.chosen.estimator,
        examples=examples,
        examples_planned=one.planned,
        commits=one.cases[0].commits if one.cases else 0,
        measured=measured,
    )


def _simulate_all(
    tasks: list[tuple[Case, int]], workers: int, progress: Progress
) -> dict[tuple[int, int], Life]:
    lives: dict[tuple[int, int], Life] = {}
    progress(0, len(tasks))
    for found in _simulated_chunks(tasks, workers):
        lives.update(found)
        progress(len(lives), len(tasks))
    return lives


def _simulated_chunks(
    tasks: list[tuple[Case, int]], workers: int
) -> Iterator[dict[tuple[int, int], Life]]:
    chunks = [tasks[start : start + CHUNK] for start in range(0, len(tasks), CHUNK)]
    if workers == 1 or len(chunks) == 1:
        yield from map(_simulate_chunk, chunks)
        return
    # Spawned, not forked: a copy of this process could inherit a lock that is never released.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(chunks)), mp_context=context) as pool:
        futures = [pool.submit(_simulate_chunk, chunk) for chunk in chunks]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _simulate_chunk(chunk: list[tuple[Case, int]]) -> dict[tuple[int, int], Life]:
    return {(case.number, testset): simulate_life(case, testset) for case, testset in chunk}
