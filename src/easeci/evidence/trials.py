"""From the scores of trials to the score of an example, which is the unit of all statistics.

Trials of one example are not independent of each other, but examples are. So the mean over an
example's trials is one number, and examples are i.i.d. with that number as their score.
"""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt

from easeci.evidence.bets import Floats


def example_scores(trials: Floats, best_of: int | None = None) -> Floats:
    """The score of each example, from the scores of its trials, shape (examples, trials).

    The mean; or, with ``best_of`` k, the probability that one of k trials, chosen at random without
    replacement, has the score 1: 1 − C(m − s, k) / C(m, k) if s of m trials have it (pass@k; Chen
    et al. 2021). NaN where the score of a trial is not known.
    """
    if best_of is None:
        return np.asarray(trials.mean(axis=1))
    made = trials.shape[1]
    passed: npt.NDArray[np.intp] = (trials == 1.0).sum(axis=1)
    chances = [1.0 - comb(made - s, best_of) / comb(made, best_of) for s in range(made + 1)]
    found = np.array(chances)[passed]
    return np.asarray(np.where(np.isnan(trials).any(axis=1), np.nan, found))
