"""What no commit can reach: against a search through many laws of the five cells."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.script import Cell, Mode, Script
from easeci.script.reach import MANY_CLAUSES, Obstacle
from easeci.service.scripts import make_script
from tests.cases import each_case

PARTS = 10
LAWS = [
    [Fraction(part, PARTS) for part in law]
    for law in product(range(PARTS + 1), repeat=len(Cell))
    if sum(law) == PARTS
]
"""Every law of the five cells whose probabilities are multiples of a tenth."""

tenths = st.integers(-9, 9).map(lambda k: f"{k / 10:g}")
sides = st.sampled_from(["n", "o", "d", "n - o", "n - 1.1 * o", "n - o + d", "d - n"])
clauses = st.builds(
    "{} {} {} +/- {}".format,
    sides,
    st.sampled_from("<>"),
    tenths,
    st.sampled_from(["0.05", "0.1", "0.2"]),
)


def obstacles(script: Script) -> list[Obstacle]:
    return [warning.obstacle for warning in script.reach_warnings]


def best(script: Script, tolerances: int) -> Fraction:
    """The largest, over the laws, of the least excess of any clause."""
    found = []
    for law in LAWS:
        excesses = []
        for clause in script.clauses:
            form = clause.greater
            phi = sum(
                (share * form.score.of(cell) for share, cell in zip(law, Cell, strict=True)),
                Fraction(0),
            )
            excesses.append(phi - form.threshold - tolerances * form.tolerance)
        found.append(min(excesses))
    return max(found)


@settings(max_examples=60, deadline=None)
@given(st.lists(clauses, min_size=1, max_size=3))
def test_a_warning_is_never_wrong(written: list[str]) -> None:
    """No law of the cells passes where none is said to, nor is clearly good where none is said."""
    try:
        script = make_script(" /\\ ".join(written))
    except Exception:  # noqa: BLE001 - a clause that nothing satisfies is refused before
        return
    found = obstacles(script)
    if Obstacle.NEVER_PASSES in found:
        assert best(script, 0) <= 0
    if found:
        assert best(script, 2) < 0
    else:
        assert best(script, 2) >= Fraction(-1, 4)  # the laws are a tenth apart


@each_case(
    ("condition", "mode", "obstacle", "words"),
    [
        ("n > 0.9 +/- 0.1", "fp-free", Obstacle.NO_CERTAIN_PASS, "the largest possible n is 1"),
        ("d < 0.1 +/- 0.1", "fp-free", Obstacle.NO_CERTAIN_PASS, "a tolerance of at most 0.05"),
        ("n > 0.1 +/- 0.07", "fn-free", Obstacle.NO_CERTAIN_FAIL, "from n = -0.04 on"),
        ("n > 0 +/- 0.05", "fn-free", Obstacle.NEVER_FAILS, "nothing can show"),
        (
            r"d < 0.1 +/- 0.01 /\ n - o > 0.1 +/- 0.01",
            "fp-free",
            Obstacle.NEVER_PASSES,
            "'d < 0.1 +/- 0.01' and 'n - o > 0.1 +/- 0.01' contradict each other",
        ),
        (
            r"n > 0.9 +/- 0.01 /\ o > 0.9 +/- 0.01 /\ d > 0.2 +/- 0.01",
            "fn-free",
            Obstacle.NEVER_MET,
            "contradict each other",
        ),
        (
            r"d < 0.05 +/- 0.01 /\ n - o > 0.02 +/- 0.01",
            "fp-free",
            Obstacle.NO_CERTAIN_PASS,
            "none is clearly good by",
        ),
    ],
)
def test_each_obstacle_is_named_with_its_clauses(
    condition: str, mode: str, obstacle: Obstacle, words: str
) -> None:
    script = make_script(condition, mode=mode)
    assert obstacles(script) == [obstacle]
    assert words in script.warnings()[0]
    assert script.warnings()[0].startswith(obstacle.value)


@each_case(
    ("condition", "mode", "words"),
    [
        ("n > 0.9 +/- 0.1", "fp-free", "no commit can pass: hoeffding shows"),
        ("n > 0.1 +/- 0.1", "fn-free", "no commit can fail: hoeffding shows"),
        (
            r"d < 0.1 +/- 0.02 /\ n - o > 0.07 +/- 0.01",
            "fp-free",
            "no commit can pass: hoeffding never shows",
        ),
    ],
)
def test_a_published_estimator_needs_an_estimate_beyond_its_tolerance(
    condition: str, mode: str, words: str
) -> None:
    """Ours need no tolerance around an estimate: there the same commits may pass or fail."""
    script = make_script(condition, mode=mode, estimator="hoeffding")
    assert words in script.warnings()[0]
    assert script.reach_warnings[0].obstacle.final
    ours = make_script(condition, mode=mode)
    assert not any(obstacle.final for obstacle in obstacles(ours))


@each_case(
    ("condition", "mode"),
    [
        ("n > 0.9 +/- 0.05", Mode.FP_FREE),
        ("n > 0.9 +/- 0.1", Mode.FN_FREE),
        ("d < 0.9 +/- 0.1", Mode.FP_FREE),
        (r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01", Mode.FP_FREE),
    ],
)
def test_an_ordinary_script_has_no_warning(condition: str, mode: Mode) -> None:
    assert make_script(condition, mode=mode).warnings() == ()


def test_of_many_clauses_every_two_are_looked_at() -> None:
    idle = [f"n > 0.{k}1 +/- 0.01" for k in range(1, 8)]
    against = ["d < 0.1 +/- 0.01", "n - o > 0.2 +/- 0.01"]
    script = make_script(" /\\ ".join([*idle, *against]))
    assert len(script.clauses) > MANY_CLAUSES
    assert obstacles(script) == [Obstacle.NEVER_PASSES]


@each_case(
    ("condition", "mode", "found", "words"),
    [
        ("recall(a) > 0.9 +/- 0.1", "fp-free", [Obstacle.NO_CERTAIN_PASS], "recall(a) is 1"),
        ("recall(a) < 0.1 +/- 0.1", "fp-free", [Obstacle.NO_CERTAIN_PASS], "at most 0.05"),
        ("f1(a)[x=y] > 0.1 +/- 0.07", "fn-free", [Obstacle.NO_CERTAIN_FAIL], "= -0.04 on"),
        ("n / o > 1.5 +/- 0.1", "fp-free", [], ""),
        ("n / o > 0 +/- 0.1", "fn-free", [Obstacle.NEVER_FAILS], "nothing can show"),
        ("n - top(3) > 0.9 +/- 0.1", "fp-free", [Obstacle.NO_CERTAIN_PASS], "n - top(3) is 1"),
        (r"recall(a) > 0.8 +/- 0.1 /\ recall(a) < 0.7 +/- 0.1", "fp-free", [], ""),
        (
            r"recall(a) > 0.8 +/- 0.1 /\ d < 0.1 +/- 0.01 /\ n - o > 0.1 +/- 0.01",
            "fp-free",
            [Obstacle.NEVER_PASSES],
            "'d < 0.1 +/- 0.01' and 'n - o > 0.1 +/- 0.01' contradict each other",
        ),
    ],
)
def test_other_measures_are_looked_at_one_by_one(
    condition: str, mode: str, found: list[Obstacle], words: str
) -> None:
    """Clauses of n, o and d are still looked at together, whatever else is in the condition."""
    script = make_script(condition, mode=mode)
    assert obstacles(script) == found
    assert words in "".join(script.warnings())
