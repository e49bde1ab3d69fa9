"""Concentration bounds: pure numerics that know nothing of scripts or testsets.

A bound is a frozen value with three functions that are inverses of one another:

``tail(sample_size, tolerance)``       ln of the probability that a mean is off by more
``sample_size(tolerance, log_delta)``  the fewest examples with which it is at most δ
``tolerance(sample_size, log_delta)``  how far off the mean of so many examples may be

Probabilities are natural logarithms throughout, because δ / 2^steps leaves the range of floats.
"""

from easeci.bounds.bennett import Bennett
from easeci.bounds.bound import Bound
from easeci.bounds.hoeffding import Hoeffding

__all__ = ["Bennett", "Bound", "Hoeffding"]
