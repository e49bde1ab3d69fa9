"""Labels per commit over the zone, labels in a month of commits, and speed: ``-m bench.labels``."""

from __future__ import annotations

import math
import sys
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial

import numpy as np

from bench.month import Month, simulate_month
from bench.speed import speeds
from bench.zone import zone

SENSITIVITIES = ("0.9999", "0.99", "0.95")
SEEDS = 40


def months(sensitivity: str, workers: int) -> list[Month]:
    simulate = partial(simulate_month, sensitivity=Fraction(sensitivity))
    if workers == 1:
        return [simulate(seed) for seed in range(SEEDS)]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(simulate, range(SEEDS)))


def write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def write_zone(repetitions: int) -> None:
    write("   d    n-o    labels         passes  limit  ratio")
    for point in zone(repetitions):
        against = "" if point.limit is None else f"{point.limit:6.0f} {point.ratio:6.2f}"
        write(
            f"{point.difference:5.2f} {point.gain:6.2f} {point.labels:7.0f} ± {point.error:4.0f}"
            f"  {point.passes:6.2f} {against}"
        )


def write_months(workers: int) -> None:
    write("sensitivity  labels in a month  wrong passes  missed clear gains")
    for sensitivity in SENSITIVITIES:
        found = months(sensitivity, workers)
        labels = np.array([month.labels for month in found])
        error = float(labels.std(ddof=1)) / math.sqrt(len(labels))
        write(
            f"{sensitivity:>11}  {labels.mean():8.0f} ± {error:4.0f}"
            f"  {sum(month.wrong_passes for month in found):8d}"
            f"  {sum(month.missed for month in found):8d} of "
            f"{sum(month.clear_gains for month in found)}"
        )


def main() -> None:
    workers = 2
    write_months(workers)
    write_zone(100)
    for speed in speeds():
        write(
            f"{speed.name}: {speed.seconds:.2f} s, {speed.ratio:.2f} times twelve cumulative sums,"
            f" {speed.megabytes:.0f} MB"
        )


if __name__ == "__main__":
    main()
