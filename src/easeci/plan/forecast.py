"""What a testset's life is likely to cost: labels shared between commits, over a stated mix.

Every commit walks the same order from its start, so a label that one commit asked for serves all
later ones. The forecast counts distinct examples: the example at position x stays without a label
only if no commit needs its label. A commit needs it if its walk is still open at x and the score of
the example depends on its label (for n − o: only if the models differ on it).

The state of a life is the number of proofs so far, which decides the levels of the next step, and
the accuracy of the baseline, which a pass moves. Examples that the first model gets right and those
that it gets wrong are counted apart, because commits change the latter more often. All of this is
followed step by step; later steps, whose levels hardly change, in groups.

This is a forecast for planning; no guarantee depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from easeci.evidence.bets import Floats
from easeci.evidence.levels import StepLevels
from easeci.plan.clause_walk import POSITIONS
from easeci.plan.commit_mix import MIXED, CommitMix
from easeci.plan.commit_needs import CommitForecast, CommitNeeds, labels_in_all
from easeci.plan.prefix import levels_of_step
from easeci.script import Adaptivity, Estimator, Mode, Script

NEAR_STEPS = 64
"""Up to here, groups of steps are a quarter of the steps before them; later ones a half."""
SINGLE_PROOFS = 12
"""So many proofs are told apart exactly; of larger ones, each twice the one before."""
LARGEST_GAP, MOST_PARTS = math.log(2.2), 4
"""The largest ratio of the evidence at neighbouring levels, and the most parts of a gap."""
NEGLIGIBLE = 1e-6
FEW, FEW_A_COMMIT = 0.5, 0.01
"""An answer is not expected if fewer than this get it, both over the life and per commit."""


@dataclass(frozen=True)
class Forecast:
    """Expected labels.

    ``labels`` is for the whole life of a testset and ``per_commit`` that divided by the expected
    number of ``commits`` tested (fewer than ``steps`` only under firstChange). ``worst_commit`` is
    for the dearest kind of commit of the mix, alone on a testset without labels, at the end of the
    life. ``proofs`` is how many commits are expected to get the answer that needs proof (fp-free:
    PASS), and ``passes`` how many pass. ``mix`` is the stated mix, fitted to the script.
    """

    labels: float
    per_commit: float
    worst_commit: float
    steps: int
    commits: float
    proofs: float
    passes: float
    examples: int
    mix: CommitMix

    @property
    def none_passes(self) -> bool:
        """Whether no commit is expected to pass."""
        return self._few(self.passes)

    @property
    def none_fails(self) -> bool:
        """Whether no commit is expected to fail."""
        return self._few(self.commits - self.passes)

    def _few(self, commits: float) -> bool:
        return commits < min(FEW, FEW_A_COMMIT * self.commits)


def forecast(script: Script, mix: CommitMix = MIXED, examples: int | None = None) -> Forecast:
    """Forecast the labels of a testset's life, for a script that decides by exact or sequential.

    ``examples`` is the size of the testset, by default the planned one. Published estimators are
    refused: they ask for their labels beforehand, and their plan says how many.
    """
    if script.estimator not in (Estimator.AUTO, Estimator.SEQUENTIAL, Estimator.EXACT):
        raise ValueError(f"no forecast for {script.estimator}: its plan has the number of labels")
    if examples is None:
        examples = _planned_size(script)
    return _Life(CommitForecast(script, mix.fitted(script), examples)).forecast()


def _planned_size(script: Script) -> int:
    # Here and not above: a plan knows its sizes, and must start fast.
    from easeci.plan.exact import exact_estimate
    from easeci.plan.sequential import sequential

    estimate = exact_estimate if script.estimator is Estimator.EXACT else sequential
    examples = estimate(script).examples
    assert examples is not None
    return examples


@dataclass(frozen=True)
class _StepTable:
    """What a step does, for each accuracy of the baseline.

    The first axis of each array says whether the step ends with a proof (0) or otherwise (1).
    ``free``, shape (2, kinds, positions, accuracies), is the probability that it ends so and does
    not need the label of such an example. ``moves``, shape (2, accuracies, accuracies), is the
    probability that it ends so and takes the accuracy elsewhere.
    """

    free: Floats
    moves: Floats

    @property
    def ends(self) -> Floats:
        """The probability of each ending, for each accuracy."""
        return np.asarray(self.moves.sum(axis=-1))


@dataclass(frozen=True)
class _Life:
    commit: CommitForecast

    def levels(self, proofs: float, others: float) -> StepLevels:
        return levels_of_step(self.commit.script, proofs, others)

    def table(self, needs: CommitNeeds) -> _StepTable:
        truths = self.commit.truths
        # Sums of many probabilities: rounding may take them a little beyond 1.
        proof = np.clip(needs.proof, 0.0, 1.0)
        ends = np.stack([proof, 1.0 - proof])
        free = [
            np.maximum(ends[..., None] - needs.among(differing), 0.0)
            for differing in truths.differing_among
        ]
        for other in needs.others:
            free += [np.maximum(ends[..., None] - needed, 0.0) for needed in other.by_kind]
        moves = np.einsum("eag,agb->eab", ends * truths.weights, truths.moves)
        unmoved = 1 if self.commit.script.mode is Mode.FP_FREE else 0
        moves[unmoved] = np.diag(ends[unmoved] @ truths.weights)
        return _StepTable(np.einsum("keagx,g->ekxa", np.stack(free), truths.weights), moves)

    def forecast(self) -> Forecast:
        """Follow the life from its first step to its last."""
        script, commit = self.commit.script, self.commit
        nodes = self.nodes()
        state = _State(commit, script.steps, nodes.kinds)
        for before, count in _groups(script.steps):
            tables = nodes.tables(
                [self.levels(proofs, max(before - proofs, 0.0)) for proofs in state.proofs_at]
            )
            if script.adaptivity is Adaptivity.FIRST_CHANGE:
                state.until_change(tables, count)
            elif count == 1:
                state.step(tables)
            else:
                state.steps(tables, count)
        fp_free, accuracy = script.mode is Mode.FP_FREE, commit.mix.accuracy
        kinds = np.array([accuracy, 1.0 - accuracy])
        needed = np.maximum(1.0 - state.unneeded_in_all, 0.0)
        labels = float(self._labels(kinds, needed, nodes))
        return Forecast(
            labels=labels,
            per_commit=labels / state.commits,
            worst_commit=commit.most_labels(nodes.usual_end),
            steps=script.steps,
            commits=state.commits,
            proofs=state.proofs,
            passes=state.proofs if fp_free else max(state.commits - state.proofs, 0.0),
            examples=commit.examples,
            mix=commit.mix,
        )

    def _labels(self, kinds: Floats, needed: Floats, nodes: _Nodes) -> Floats:
        """The labels of the life, from the probabilities that examples of each kind need one."""
        commit = self.commit
        if not nodes.first.others:
            return commit.in_all(kinds @ needed)
        parts, first = [(commit.positions, kinds @ needed[:2], False)], 2
        for other in nodes.first.others:
            last = first + len(other.weights)
            parts.append((other.positions, other.weights @ needed[first:last], other.apart))
            first = last
        return labels_in_all(parts)

    def nodes(self) -> _Nodes:
        """Tables for the levels of a first step, a usual last one, and one after many proofs."""
        script, truths = self.commit.script, self.commit.truths
        start = self.levels(0.0, 0.0)
        first = self.commit.needs(start)
        last = script.steps - 1.0
        usual = last * float(first.proof[truths.first] @ truths.weights)
        many = min(last, usual + 2.0 * usual**0.5 + 2.0)
        ends = [self.levels(proofs, last - proofs) for proofs in (usual, many)]
        safety = _refined({levels.safety for levels in (start, *ends)})
        sensitivity = _refined({levels.sensitivity for levels in (start, *ends)})
        tables = [
            [self.table(self.commit.needs(StepLevels(alpha, beta, 0.0))) for beta in sensitivity]
            for alpha in safety
        ]
        return _Nodes(
            np.array(safety),
            np.array(sensitivity),
            np.array([[table.free for table in row] for row in tables]),
            np.array([[table.moves for table in row] for row in tables]),
            ends[0],
            first,
        )


@dataclass(frozen=True)
class _Nodes:
    """Step tables at some levels, between which others are interpolated."""

    safety: Floats
    sensitivity: Floats
    free: Floats
    moves: Floats
    usual_end: StepLevels
    first: CommitNeeds

    @property
    def kinds(self) -> int:
        """How many kinds of examples are told apart."""
        return int(self.free.shape[3])

    def tables(self, levels: list[StepLevels]) -> _StepTable:
        """The tables of steps with these levels, stacked along a new first axis."""
        near = [
            _nearness(np.array([level.safety for level in levels]), self.safety),
            _nearness(np.array([level.sensitivity for level in levels]), self.sensitivity),
        ]
        both = near[0][:, :, None] * near[1][:, None, :]
        return _StepTable(np.tensordot(both, self.free, 2), np.tensordot(both, self.moves, 2))


def _refined(levels: set[float]) -> list[float]:
    """Levels in rising order, with more of them where one is far from the next.

    Labels grow in proportion to −ln of a level. So between levels that are too far apart, some
    commits would be taken for very short ones and some for very long ones.
    """
    found: list[float] = []
    for level in sorted(levels):
        if found:
            ratio = level / found[-1]
            parts = min(max(math.ceil(math.log(ratio) / -LARGEST_GAP), 1), MOST_PARTS)
            found += [found[-1] * ratio ** (part / parts) for part in range(1, parts)]
        found.append(level)
    return found


def _nearness(values: Floats, nodes: Floats) -> Floats:
    """The weights of two neighbouring nodes, for each value."""
    numbers = np.arange(len(nodes))
    place = np.interp(values, nodes, numbers)
    return np.asarray(np.maximum(1.0 - np.abs(place[:, None] - numbers), 0.0))


class _State:
    """The probabilities of all states of a life, after some steps.

    ``at`` has the shape (proofs, accuracies). ``unneeded``, shape (proofs, kinds, positions,
    accuracies), is the probability of a state in which no commit needed the label so far.
    """

    def __init__(self, commit: CommitForecast, steps: int, kinds: int) -> None:
        truths = commit.truths
        self._grid = _proof_grid(steps)
        self._at = np.zeros((len(self._grid), len(truths.accuracies)))
        self._at[0, truths.first] = 1.0
        shape = (len(self._grid), kinds, POSITIONS, len(truths.accuracies))
        self._unneeded = np.broadcast_to(self._at[:, None, None, :], shape).copy()
        self._retired = np.zeros(shape[1:3])
        self._rows = 1
        self.commits = self.proofs = 0.0

    @property
    def proofs_at(self) -> Floats:
        """The numbers of proofs that are possible so far."""
        return self._grid[: self._rows]

    @property
    def unneeded_in_all(self) -> Floats:
        """The probability that no commit needed a label, shape (kinds, positions)."""
        return np.asarray(self._unneeded.sum(axis=(0, -1)) + self._retired)

    def step(self, tables: _StepTable) -> None:
        """One step: with a proof, the state goes to the next row."""
        at, unneeded = self._at[: self._rows], self._unneeded[: self._rows]
        ends = np.maximum(tables.ends, 1e-300)
        self._count(at, tables)
        moved_at = [at[:, None, :] @ tables.moves[:, end] for end in (0, 1)]
        moved = [
            # A part of an end is at most all of it, also where both are almost impossible.
            (unneeded * np.minimum(tables.free[:, end] / ends[:, end, None, None, :], 1.0))
            @ tables.moves[:, end, None]
            for end in (0, 1)
        ]
        self._place(self._next_rows(np.ones(self._rows)), moved_at[0][:, 0], moved[0])
        self._at[: len(at)] += moved_at[1][:, 0]
        self._unneeded[: len(at)] += moved[1]
        self._trim()

    def steps(self, tables: _StepTable, count: int) -> None:
        """Many like steps: the state goes on by the expected number of proofs."""
        at, unneeded = self._at[: self._rows], self._unneeded[: self._rows]
        self._count(at * float(count), tables)
        mass = np.maximum(at.sum(axis=1), 1e-300)
        proofs = count * (at * tables.ends[:, 0]).sum(axis=1) / mass
        moves = np.linalg.matrix_power(tables.moves.sum(axis=1), count)
        moved = (unneeded * tables.free.sum(axis=1) ** count) @ moves[:, None]
        self._place(self._next_rows(proofs), (at[:, None, :] @ moves)[:, 0], moved)
        self._trim()

    def until_change(self, tables: _StepTable, count: int) -> None:
        """So many like steps, each of which is reached only if none before it was a proof."""
        at, unneeded = self._at[:1], self._unneeded[:1]
        stay = tables.ends[:, 1]
        reached, left = _powers(tables.moves[0, 1], count)
        self._count(at @ reached, tables)
        free = np.minimum(tables.free[:, 1], 1.0)
        ended = unneeded * tables.free[:, 0] * _geometric(free, count)
        self._retired += ended.sum(axis=(0, -1))
        moves = np.linalg.matrix_power(
            tables.moves[:, 1] / np.maximum(stay, 1e-300)[..., None], count
        )
        self._at[:1] = at @ left
        self._unneeded[:1] = (unneeded * free**count) @ moves[:, None]

    def _count(self, tested: Floats, tables: _StepTable) -> None:
        """Count the expected commits that are tested, and their proofs."""
        self.commits += float(tested.sum())
        self.proofs += float((tested * tables.ends[:, 0]).sum())

    def _next_rows(self, proofs: Floats) -> Floats:
        """Where each row goes with so many more proofs, shape (rows, all rows)."""
        return _nearness(self.proofs_at + proofs, self._grid)

    def _place(self, shares: Floats, at: Floats, unneeded: Floats) -> None:
        """Replace the state by one that is spread over rows."""
        top = int(np.flatnonzero(shares.any(axis=0))[-1]) + 1
        shares = shares[:, :top].T
        self._at[:top] = shares @ at
        self._unneeded[:top] = np.tensordot(shares, unneeded, 1)
        self._rows = max(self._rows, top)

    def _trim(self) -> None:
        """Add the last rows to the one before them if they are negligible."""
        mass = self._at.sum(axis=1)
        self._rows = int(np.flatnonzero(mass > NEGLIGIBLE)[-1]) + 1
        for state in (self._at, self._unneeded):
            state[self._rows - 1] += state[self._rows :].sum(axis=0)
            state[self._rows :] = 0.0


def _powers(matrix: Floats, count: int) -> tuple[Floats, Floats]:
    """1 + matrix + … with so many terms, and the power that would be the next term."""
    size = len(matrix)
    one = np.eye(size)
    both = np.linalg.matrix_power(np.block([[matrix, one], [np.zeros_like(one), one]]), count)
    return both[:size, size:], both[:size, :size]


def _geometric(ratio: Floats, count: int) -> Floats:
    """1 + ratio + … with so many terms."""
    gap = np.maximum(1.0 - ratio, 1e-15)
    return np.asarray(np.where(ratio < 1.0 - 1e-12, (1.0 - ratio**count) / gap, float(count)))


def _proof_grid(steps: int) -> Floats:
    """Numbers of proofs that stand for all numbers up to the steps."""
    grid = [float(number) for number in range(min(steps, SINGLE_PROOFS) + 1)]
    while grid[-1] < steps:
        grid.append(min(grid[-1] * 2.0, float(steps)))
    return np.array(grid)


def _groups(steps: int) -> Iterator[tuple[int, int]]:
    """Groups of steps with about the same levels: how many steps are before, and its size."""
    before = 0
    while before < steps:
        share = before // 4 if before < NEAR_STEPS else before // 2
        count = min(max(share, 1), steps - before)
        yield before, count
        before += count
