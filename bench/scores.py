"""Examples that a verdict on scores takes, against reference figures, and its time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from bench.page import Figure, Section, broken_promises, table
from bench.progress import as_done, tell
from bench.ratio import Ratio, ratio
from easeci.evidence.bets import Floats
from easeci.evidence.cells import Code
from easeci.evidence.clause_test import Goal, SequentialTest, Targets
from easeci.evidence.codes import Codes
from easeci.evidence.endings import Ending
from easeci.evidence.facts import Facts
from easeci.evidence.labelled import LabelledTestset
from easeci.script import Mode, NormalClause
from easeci.script.lattice import ScoreTerm
from easeci.service.scripts import make_script

CONDITION, THRESHOLD, TOLERANCE = "n - o > 0.02 +/- 0.01", 0.02, 0.01
TARGET = math.log(32 / 1e-4)
"""The evidence for δ/32 with δ = 0.0001, for the proof and for futility."""
WALKS, FEWER_WALKS = 400, 60
"""Where there is a reference, and elsewhere."""
TRUTHS = (THRESHOLD, THRESHOLD + TOLERANCE, THRESHOLD + 2 * TOLERANCE)
RUBRIC_SPREAD, JUDGE_SPREAD, DIFFER = 0.15, 0.1, 0.3
LONG, LONGER, MILLION = 20_000, 150_000, 1_000_000
NEVER = 1e6
SLOWER = 40.0

OPENING = f"""\
## Scores of outputs

`{CONDITION}`, where *n* and *o* are mean scores. Proof and futility are at δ/32 with δ = 0.0001.
Mean examples that need a label or a score, by the true gain, ± the standard error: of {WALKS}
commits where there is a reference, and of {FEWER_WALKS} elsewhere. Outputs have grades in quarters
whose differences have a standard deviation of {RUBRIC_SPREAD}; or scores of a judge, with normal
differences of {JUDGE_SPREAD}; or they are right or wrong, and one model is better on {DIFFER:.0%}.
The references are from an independent simulation; a figure may be up to two standard errors
larger."""
CLOSING = """\
Predictions that are right or wrong need no labels where they are equal, and so do outputs that are
equal. For outputs that all differ, every example is scored. A program's scores may lie between 0
and 1, so its bets are made for a spread that is not known. Time of a verdict on a million examples
whose outputs all differ, in units of the verdict on the same examples as cells of right and wrong:
"""


@dataclass(frozen=True)
class ScoredSetting:
    """How scores are drawn, what scores them, and the reference figure at c + 2ε."""

    name: str
    draw: str
    scorer: str | None
    reference: int | None = None


@dataclass(frozen=True)
class ScoredFigure:
    """Mean examples of many walks at one truth, and how many of them ended with a proof."""

    setting: ScoredSetting
    truth: float
    examples: float
    error: float
    walks: int
    proofs: int

    @property
    def figure(self) -> Figure:
        """The examples, with what the reference allows at c + 2ε."""
        reference = self.setting.reference if self.truth == TRUTHS[-1] else None
        at_most = None if reference is None else reference + 2.0 * self.error
        return Figure(f"examples for {self.setting.name}", self.examples, at_most)

    @property
    def shown(self) -> str:
        return f"{self.figure.shown(',.0f')} ± {self.error:,.0f}"


# -- testsets


def with_scores(difference: Floats) -> Facts:
    """All outputs differ, and the models' scores have these differences."""
    new, old = (np.clip(0.5 + sign * difference / 2.0, 0.0, 1.0) for sign in (1.0, -1.0))
    cells = np.full(len(difference), Code.BOTH_WRONG, np.uint8)
    return Facts(cells, scores={ScoreTerm("n"): new, ScoreTerm("o"): old})


def rubric(truth: float, random: np.random.Generator) -> Facts:
    """Grades in quarters."""
    values = np.arange(-2, 3) / 4.0
    law = np.array([0.01, 0.15, 0.0, 0.15, 0.01])
    law *= RUBRIC_SPREAD**2 / (law @ values**2)
    law[2] = 1.0 - law.sum()
    low, high = -50.0, 50.0
    for _ in range(80):
        tilt = (low + high) / 2.0
        tilted = law * np.exp(tilt * values)
        tilted /= tilted.sum()
        low, high = (tilt, high) if tilted @ values < truth else (low, tilt)
    return with_scores(random.choice(values, LONG, p=tilted))


def judge(truth: float, random: np.random.Generator) -> Facts:
    """Scores of any size."""
    return with_scores(np.clip(random.normal(truth, JUDGE_SPREAD, LONG), -1.0, 1.0))


def right_or_wrong(truth: float, random: np.random.Generator, examples: int = LONGER) -> Codes:
    """Which model is better; on all other examples both are right."""
    better, worse = (DIFFER + truth) / 2.0, (DIFFER - truth) / 2.0
    cells = (Code.NEW_RIGHT, Code.OLD_RIGHT, Code.AGREE_RIGHT)
    return random.choice(np.array(cells, np.uint8), examples, p=[better, worse, 1.0 - DIFFER])


def as_outputs(codes: Codes, *, all_differ: bool) -> Facts:
    """The same models with outputs that score 0 or 1."""
    scores = {
        ScoreTerm("n"): (codes != Code.OLD_RIGHT).astype(np.float64),
        ScoreTerm("o"): (codes != Code.NEW_RIGHT).astype(np.float64),
    }
    equal = (codes == Code.AGREE_RIGHT) & (not all_differ)
    return Facts(np.where(equal, Code.AGREE_WRONG, Code.BOTH_WRONG).astype(np.uint8), scores=scores)


DRAWS: dict[str, Callable[[float, np.random.Generator], Facts]] = {
    "rubric": rubric,
    "judge": judge,
    "predictions": lambda truth, random: Facts(right_or_wrong(truth, random)),
    "equal outputs": lambda truth, random: as_outputs(
        right_or_wrong(truth, random), all_differ=False
    ),
    "all differ": lambda truth, random: as_outputs(right_or_wrong(truth, random), all_differ=True),
}
SETTINGS = (
    ScoredSetting("grades of a program", "rubric", "./score.py", 2_074),
    ScoredSetting("scores of a judge", "judge", "./score.py", 1_186),
    ScoredSetting("right or wrong predictions", "predictions", None),
    ScoredSetting("right or wrong outputs by `exact`, some equal", "equal outputs", "exact"),
    ScoredSetting("right or wrong by a program, some equal", "equal outputs", "./score.py"),
    ScoredSetting("right or wrong outputs by `exact`, all differ", "all differ", "exact"),
    ScoredSetting("right or wrong by a program, all differ", "all differ", "./score.py"),
)


# -- walks


def clause_of(scorer: str | None) -> NormalClause:
    keys = {} if scorer is None else {"scorer": scorer}
    return make_script(CONDITION, **keys).clauses[0]


def walk(clause: NormalClause, facts: Facts, target: float = TARGET) -> tuple[int, Ending]:
    """How many examples one commit takes, and how its walk ends."""
    goal, testset = Goal.of(clause, Mode.FP_FREE), LabelledTestset(facts)
    found = SequentialTest.on(goal, Targets(target, target, target), testset).walk(testset)
    return found.labels, found.ending


def measure(case: tuple[ScoredSetting, float], walks: int | None = None) -> ScoredFigure:
    """The mean examples of many walks at one truth."""
    setting, truth = case
    clause = clause_of(setting.scorer)
    many = setting.reference is not None and truth == TRUTHS[-1]
    count = walks or (WALKS if many else FEWER_WALKS)
    # Right or wrong models are the same in all settings: only what scores them differs.
    kind = min(list(DRAWS).index(setting.draw), 2)
    draw = DRAWS[setting.draw]
    found = [
        walk(clause, draw(truth, np.random.default_rng((kind, seed)))) for seed in range(count)
    ]
    examples = np.array([taken for taken, _ in found])
    assert all(ending is not Ending.EXHAUSTED for _, ending in found)
    error = float(examples.std(ddof=1)) / math.sqrt(count)
    proofs = sum(ending is Ending.PROVEN for _, ending in found)
    return ScoredFigure(setting, truth, float(examples.mean()), error, count, proofs)


def verdict_time(examples: int = MILLION) -> Ratio:
    """A walk along all examples, with graded scores and with five cells."""
    codes = right_or_wrong(TRUTHS[1], np.random.default_rng(0), examples)
    scored = as_outputs(codes, all_differ=True)
    cells = Facts(np.where(codes == Code.AGREE_RIGHT, Code.BOTH_WRONG, codes))
    graded, plain = clause_of("./score.py"), clause_of(None)
    return ratio(
        f"graded scores, {graded.score.alphabet.outcomes:,} outcomes",
        lambda: walk(graded, scored, NEVER),
        "right or wrong, five cells",
        lambda: walk(plain, cells, NEVER),
        promised=SLOWER,
        rounds=5,
        clock=time.process_time,
    )


# -- the page


def section() -> Section:
    found = []
    for figure in as_done(measure, product(SETTINGS, TRUTHS)):
        tell(f"  {figure.setting.name} at {figure.truth:g}: {figure.shown}, {figure.proofs} proofs")
        found.append(figure)
    timed = verdict_time()
    tell(f"  {timed.what}: {timed.value:.2f} times")
    text = "\n\n".join([OPENING, scores_table(found).strip(), CLOSING + "\n" + time_table(timed)])
    return Section(text, broken=broken_promises([*(one.figure for one in found), timed]))


def scores_table(found: list[ScoredFigure]) -> str:
    """A row for each setting, with a column for each truth."""
    by_place = {(one.setting, one.truth): one for one in found}
    rows = []
    for setting in dict.fromkeys(one.setting for one in found):
        last = by_place[setting, TRUTHS[-1]]
        at_most = last.figure.at_most
        rows.append(
            [
                setting.name,
                *(by_place[setting, truth].shown for truth in TRUTHS),
                f"{last.proofs} of {last.walks}",
                "" if setting.reference is None else f"{setting.reference:,}",
                "" if at_most is None else f"{at_most:,.0f}",
            ]
        )
    headings = ["scores", *(f"{truth:g}" for truth in TRUTHS), "proofs", "reference", "at most"]
    return table(headings, rows)


def time_table(timed: Ratio) -> str:
    row = [timed.what, timed.against, timed.shown(".2f"), timed.promise]
    return table(["verdict on", "measured against", "ratio", "at most"], [row], left=2)
