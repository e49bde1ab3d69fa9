"""Sample size estimators against the empirical error, on an endless supply of test digits.

A nearest-neighbour classifier learns half of scikit-learn's handwritten digits, each also in a few
distorted copies. A test digit is one of the other half, turned, sheared, scaled and shifted at
random, so there are always more of them. Images, distortions and distances are whole numbers
throughout, so the same digits are right and wrong on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from bench.progress import as_done
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

SIDE, PIXELS = 8, 64
MARGIN = 2
ONE = 1 << 12
"""Fixed-point 1."""
DISTORTION, SHIFT = 600, 600
"""Largest change of each entry of the 2 × 2 matrix, and largest shift in pixels, in 1/4096."""
COPIES = 4
"""Distorted copies of each digit that is learnt, enough for an accuracy near 98%."""
BLOCK = 20_000
BLOCKS = 200
BATCH = 250
SIZES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
MOST_TESTSETS = 4_000
DELTA = 0.01

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Classifier:
    """The learnt images, their squared lengths and their classes.

    float32 is exact here: all are whole numbers, and no sum exceeds 2^24.
    """

    images: Floats
    lengths: Floats
    classes: Ints

    @staticmethod
    def of(images: Floats, classes: Ints) -> Classifier:
        return Classifier(images, (images * images).sum(axis=1), classes)

    def predict(self, images: Floats) -> Ints:
        """The class of the nearest image; distances lack a term that is the same for all."""
        distances = images @ self.images.T
        distances *= -2.0
        distances += self.lengths
        nearest: Ints = self.classes[distances.argmin(axis=1)]
        return nearest


@dataclass(frozen=True)
class Spread:
    """Accuracies of ``testsets`` testsets of one size: their δ and 1 − δ quantiles."""

    size: int
    testsets: int
    low: float
    high: float

    @property
    def gap(self) -> float:
        return self.high - self.low


@dataclass(frozen=True)
class Digits:
    """How many of all test digits are right, in the first block and in all, and the spreads."""

    examples: int
    right: int
    right_in_first_block: int
    spreads: tuple[Spread, ...]

    @property
    def accuracy(self) -> float:
        return self.right / self.examples


def distort(images: Ints, draw: np.random.Generator) -> Floats:
    """Every image under its own random affine map, with bilinear interpolation."""
    count = len(images)
    matrix = draw.integers(-DISTORTION, DISTORTION + 1, (2, 2, count, 1), dtype=np.int32)
    shift = draw.integers(-SHIFT, SHIFT + 1, (2, count, 1), dtype=np.int32)
    y, x = (2 * np.indices((SIDE, SIDE), dtype=np.int32) - (SIDE - 1)).reshape(2, PIXELS)
    padded = np.pad(images, ((0, 0), (MARGIN, MARGIN), (MARGIN, MARGIN)))
    wide = padded.shape[1]
    place = (matrix[:, 0] * y + matrix[:, 1] * x + np.stack([ONE * y, ONE * x])[:, None]) // 2
    place += shift + (SIDE - 1) * ONE // 2
    row, column = np.clip(place // ONE, -MARGIN, SIDE) + MARGIN
    down, right = place % ONE
    start = np.arange(count, dtype=np.int32)[:, None] * wide * wide + row * wide + column
    corners = [padded.reshape(-1).take(start + step) for step in (0, 1, wide, wide + 1)]
    above = (ONE - right) * corners[0] + right * corners[1]
    below = (ONE - right) * corners[2] + right * corners[3]
    blended = (ONE - down) * above + down * below
    rounded: Floats = ((blended + ONE * ONE // 2) // (ONE * ONE)).astype(np.float32)
    return rounded


@cache
def learn() -> tuple[Classifier, Ints, Ints]:
    """The classifier, and the digits that it has not seen, with their classes."""
    draw = np.random.default_rng(0)
    pixels, targets = load_digits(return_X_y=True)
    classes = targets.astype(np.int32)
    images = pixels.astype(np.int32).reshape(-1, SIDE, SIDE)
    seen, unseen = np.array_split(draw.permutation(len(images)), 2)
    learnt = [images[seen].reshape(-1, PIXELS).astype(np.float32)]
    learnt += [distort(images[seen], draw) for _ in range(COPIES)]
    classifier = Classifier.of(np.concatenate(learnt), np.tile(classes[seen], COPIES + 1))
    return classifier, images[unseen], classes[unseen]


def block(number: int) -> npt.NDArray[np.bool_]:
    """Which digits of one block of new test digits are recognised."""
    classifier, images, classes = learn()
    draw = np.random.default_rng((1, number))
    right = []
    with threadpool_limits(1):  # each core already works on its own block
        for _ in range(BLOCK // BATCH):
            drawn = draw.integers(0, len(images), BATCH)
            right.append(classifier.predict(distort(images[drawn], draw)) == classes[drawn])
    return np.concatenate(right)


def blocks() -> Iterator[npt.NDArray[np.bool_]]:
    return as_done(block, range(BLOCKS))


def spread(right: npt.NDArray[np.bool_], size: int) -> Spread:
    """Quantiles of the accuracies of testsets that have no digit in common."""
    testsets = min(MOST_TESTSETS, len(right) // size)
    accuracies = right[: testsets * size].reshape(testsets, size).mean(axis=1)
    low, high = np.quantile(accuracies, [DELTA, 1.0 - DELTA], method="inverted_cdf")
    return Spread(size, testsets, float(low), float(high))


def summary(found: list[npt.NDArray[np.bool_]]) -> Digits:
    right = np.concatenate(found)
    return Digits(
        examples=len(right),
        right=int(right.sum()),
        right_in_first_block=int(found[0].sum()),
        spreads=tuple(spread(right, size) for size in SIZES),
    )
