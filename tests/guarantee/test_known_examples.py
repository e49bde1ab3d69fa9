"""Examples that developers know from an earlier testset are left out, or the promise breaks.

One example in a hundred is known here, with its label. The developer's models are right on those
below the cut, where the baseline is wrong, and gain and lose elsewhere so much that the true gain
is the threshold. Known examples were in an earlier testset or its public sample, under other ids;
the vault itself leaves them out of the new one. The test fails as those of ``test_attacks.py`` do: a rate of exactly δ gives a
false alarm with probability 1 in 1,000, in each of two cases.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

from easeci.vault.intake import Offered, load_offered
from easeci.vault.overlap import leave_out_known
from easeci.vault.paths import open_vault
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset
from tests.guarantee.life import RIGHT, WRONG, EndedError, Life, Model, Piece, Points, World
from tests.guarantee.test_attacks import CONDITIONS, FEWER, HOW_MANY, KEYS, WHICH, most_wrong

EXAMPLES, KNOWN = 4_000, 40
CUT = 0.9
"""The baseline is wrong on most inputs, so most known examples help."""
NOISE = 0.002
"""A gain elsewhere, and a loss of the same size."""
STEPS = 3


def memorised(points: Points, attempt: int, threshold: float) -> Model:
    """A model that is right on these inputs, with a true gain of the threshold."""
    near = [Piece(x, float(np.nextafter(x, 1.0))) for x in points.tolist() if x < CUT]
    gained = Piece(attempt * NOISE, (attempt + 1) * NOISE)
    lost_mass = NOISE - threshold + sum(piece.mass for piece in near)
    lost = Piece(CUT + attempt * lost_mass, CUT + (attempt + 1) * lost_mass)
    apart = [piece for piece in near if not gained.start <= piece.start < gained.end]
    return Model(tuple([(piece, RIGHT) for piece in (*apart, gained)] + [(lost, WRONG)]))


def fresh(offered: Points, known: Points) -> Points:
    """What the vault leaves of offered examples if an earlier testset had the known ones."""
    with tempfile.TemporaryDirectory() as folder:
        vault = open_vault(Path(folder) / "store", "model")
        seal(vault, 1, _offer(Path(folder) / "old.csv", known), sample=len(known) // 2)
        offer = _offer(Path(folder) / "new.csv", offered)
        left = leave_out_known(offer, [SealedTestset(vault, 1)]).offered
    return left.examples.columns["x"].cast(float).to_numpy()


def _offer(path: Path, points: Points) -> Offered:
    rows = [f"{path.stem}{number},{x!r}" for number, x in enumerate(points.tolist())]
    path.write_text("\n".join(["id,x", *rows, ""]))
    return load_offered(path)


def live(which: int, seed: int, *, left_out: bool) -> Life:
    """A life whose developer knows one example in a hundred of those that were offered."""
    offered = np.random.default_rng(seed).random(EXAMPLES)
    # The order of a testset is drawn at sealing, so known examples may lie anywhere in it.
    known = np.random.default_rng(10_000 + seed).choice(EXAMPLES, KNOWN, replace=False)
    world = World(
        examples=fresh(offered, offered[known]) if left_out else offered,
        keys=tuple((KEYS | {"condition": CONDITIONS[which], "steps": str(STEPS)}).items()),
        cut=CUT,
        labelled=True,
    )
    life = Life(world)
    threshold = float(world.script.clauses[0].threshold)
    for attempt in range(STEPS):
        try:
            life.submit(memorised(offered[known], attempt, threshold))
        except EndedError:
            break
    return life


@WHICH
@HOW_MANY
def test_examples_that_are_left_out_do_not_help(which: int, lives: int) -> None:
    wrong = sum(live(which, seed, left_out=True).wrong_pass for seed in range(lives))
    assert wrong <= most_wrong(lives)


@WHICH
@FEWER
def test_known_examples_break_the_promise(which: int, lives: int) -> None:
    """The test above can fail: one known example in a hundred is enough."""
    wrong = sum(live(which, seed, left_out=False).wrong_pass for seed in range(lives))
    assert wrong > 2 * most_wrong(lives)


@pytest.mark.parametrize("threshold", [0.0, -0.01])
def test_the_models_of_this_attack_are_false(threshold: float) -> None:
    points = np.random.default_rng(0).random(KNOWN)
    for attempt in range(STEPS):
        assert memorised(points, attempt, threshold).gain(CUT) <= threshold + 1e-12
