"""Measurements: labels of seeded simulations, and times as ratios within one run."""
