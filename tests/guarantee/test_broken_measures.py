"""Break each table once: the simulations and enumerations of the measures notice it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType

import pytest

from easeci.evidence import clause_test, codes, facts, hypothesis, labelled, rivals, shared_prefix
from easeci.evidence.hypothesis import Hypothesis
from easeci.script import Mode
from easeci.script import score as scores
from tests.guarantee.measured_worlds import World
from tests.guarantee.test_measures import ALPHA, BETA, FUTILITY, MIXED, WORLDS, found_world
from tests.guarantee.test_measures_exact import check_rows
from tests.measures import most_errors

RUNS = 14


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Iterator[None]:
    yield
    forget()


def forget() -> None:
    """Tests and hypotheses are cached: a right one would hide what is broken, and a broken one stay."""
    clause_test.forget_tests()
    Hypothesis.of.cache_clear()


def break_code(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, *changes: tuple[str, str]
) -> None:
    """Replace a function or ``Class.method`` by one from changed source text."""
    source = inspect.getsource(module)
    for old, new in changes:
        assert source.count(old) == 1, f"{old!r} is {source.count(old)} times in {module.__name__}"
        source = source.replace(old, new)
    changed = ModuleType(module.__name__)
    changed.__dict__.update(vars(module))
    exec(compile(source, module.__file__ or "", "exec"), changed.__dict__)
    forget()
    owner, _, method = name.rpartition(".")
    if not owner:
        monkeypatch.setattr(module, name, getattr(changed, name))
        return
    monkeypatch.setattr(getattr(module, owner), method, vars(getattr(changed, owner))[method])


def wrong_proofs(world: World, mode: Mode = Mode.FP_FREE, runs: int = RUNS) -> bool:
    """Whether there are more wrong proofs than the tests allow."""
    return world.wrong_proofs(mode, ALPHA, runs) > most_errors(runs, ALPHA + world.extra)


def wrong_futility(world: World, mode: Mode = Mode.FP_FREE) -> bool:
    return world.wrong_futility(mode, BETA, RUNS) > most_errors(RUNS, FUTILITY + world.extra)


PROOF = "Hypothesis.of(self.score, self.bound, self.tolerance),"
FUTILE = "Hypothesis.of(-self.score, -self.clear, self.tolerance),"
CLAIM = "Hypothesis.of(-self.score, -self.bound, self.tolerance),"


def test_a_proof_against_less_than_the_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    lower = PROOF.replace("self.bound", "self.bound - 2 * self.tolerance")
    break_code(monkeypatch, clause_test, "Goal._hypotheses", (PROOF, lower))
    assert wrong_proofs(WORLDS["recall"])
    assert wrong_proofs(WORLDS["auc 2x2"])


def test_a_proof_against_the_end_of_the_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    higher = PROOF.replace("self.bound", "self.bound + 2 * self.tolerance")
    break_code(monkeypatch, clause_test, "Goal._hypotheses", (PROOF, higher))
    assert not wrong_proofs(WORLDS["recall"])
    assert WORLDS["recall"].right_endings(ALPHA, 5)[0] < 3


def test_futility_at_the_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    lower = FUTILE.replace("self.clear", "self.bound")
    break_code(
        monkeypatch,
        clause_test,
        "Goal._hypotheses",
        (FUTILE + "\n            " + CLAIM, lower + CLAIM),
    )
    assert WORLDS["recall"].right_endings(ALPHA, 5)[1] < 3


def test_futility_beyond_the_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    higher = FUTILE.replace("-self.clear", "-self.clear - 2 * self.tolerance")
    break_code(monkeypatch, clause_test, "Goal._hypotheses", (FUTILE, higher))
    assert wrong_futility(WORLDS["recall"])


def test_a_table_of_the_wrong_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    break_code(monkeypatch, scores, "Ratio.table", ("x - bound * y for", "x + bound * y for"))
    assert wrong_proofs(WORLDS["precision"])
    assert wrong_proofs(WORLDS["ratio"])


def test_unsettled_labels_at_their_best(monkeypatch: pytest.MonkeyPatch) -> None:
    break_code(monkeypatch, codes, "at_worst", ("= min(possible", "= max(possible"))
    monkeypatch.setattr(hypothesis, "at_worst", codes.at_worst)
    assert wrong_proofs(WORLDS["recall"])
    assert wrong_futility(WORLDS["precision"])


def test_unsettled_labels_at_their_best_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    break_code(
        monkeypatch,
        hypothesis,
        "_outright",
        ("entries[:, group].min(axis=1) for", "entries[:, group].max(axis=1) for"),
    )
    assert wrong_proofs(WORLDS["precisions"])


HARD_SHARE = {
    "above": found_world("n.recall(k) - o.recall(k) > 0.25 +/- 0.1", 0.3, 4000, prefix=60),
    "below": found_world("n.recall(k) - o.recall(k) > -0.3 +/- 0.05", 0.3, 4000, prefix=60),
}
"""A short prefix, so that the two limits of the share are far from each other."""


@pytest.mark.parametrize("side", list(HARD_SHARE))
def test_the_other_limit_of_the_share(monkeypatch: pytest.MonkeyPatch, side: str) -> None:
    world = HARD_SHARE[side]
    assert not wrong_proofs(world)
    other = ("high if bound > 0.0 else low", "low if bound > 0.0 else high")
    break_code(monkeypatch, shared_prefix, "ShareGoal._hypothesis", other)
    assert wrong_proofs(world)


def test_unsettled_labels_of_a_prefix_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody skips examples of the class, so that it looks rarer than it is."""
    world = found_world("n.recall(k) - o.recall(k) > 0.25 +/- 0.1", 0.3, 4000, prefix=400)
    assert not wrong_proofs(world)
    change = ("upper_limit(sure + unsettled,", "upper_limit(sure,")
    break_code(monkeypatch, shared_prefix, "PrefixTest._limits", change)
    assert wrong_proofs(world)


def test_rows_with_the_wrong_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    check_rows("n.precision(k) - o.precision(k) > -0.1 +/- 0.4", 10)
    ends = (
        "first.table(at + width + bound), second.table(at)",
        "first.table(at + bound), second.table(at + width)",
    )
    break_code(monkeypatch, hypothesis, "row_tables", ends)
    with pytest.raises(AssertionError):
        check_rows("n.precision(k) - o.precision(k) > -0.1 +/- 0.4", 10)


def test_a_mean_that_counts_only_where_it_is_not_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a difference, the bets also lose on examples on which the mean's score is 0."""
    change = (
        "for table in (ratio.numerator, ratio.denominator))",
        "for table in (ratio.numerator,))",
    )
    break_code(monkeypatch, scores, "Score._tables", change)
    world = found_world(MIXED, size=500, old=(0.2, 0.3))
    assert not world.clause.score.counts_everywhere
    assert wrong_proofs(world)


def test_the_largest_e_values_instead_of_the_smallest(monkeypatch: pytest.MonkeyPatch) -> None:
    change = ("axis=0)[many - 1]", "axis=0)[-many]")
    break_code(monkeypatch, rivals, "RivalsWalk._ranked", change)
    assert wrong_proofs(WORLDS["top 1"])
    assert wrong_proofs(WORLDS["top 2"])


def test_blocks_that_share_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each example is in two blocks: what looks like two pieces of evidence is hardly one."""
    assert not wrong_proofs(WORLDS["auc 2x2"], runs=200)
    count = ("len(places) // size for", "len(places) - size + 1 for")
    blocks = (
        "places[: count * size].reshape(count, size)",
        "np.lib.stride_tricks.sliding_window_view(places, size)[:count]",
    )
    break_code(monkeypatch, labelled, "BlockTrack._make_blocks", count, blocks)
    assert wrong_proofs(WORLDS["auc 2x2"], runs=200)


def test_negative_blocks_in_the_order_of_positive_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    change = ("sorted(found, reverse=(self.new or self.old) < 0)", "sorted(found)")
    break_code(monkeypatch, scores, "Blocks.values", change)
    assert wrong_proofs(WORLDS["auc 2x2"], Mode.FN_FREE)


def test_a_slice_that_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ("None if score.slice is None else self.slices[score.slice]", "None")
    break_code(monkeypatch, facts, "Facts.positions", whole)
    assert wrong_proofs(WORLDS["slice"])
    assert wrong_proofs(WORLDS["recall in a slice"])
