"""The append-only record of a project: what was done, what was spent, what was disclosed.

Events are immutable data (:mod:`events`), bound to each other by a keyed chain (:mod:`chain`).
:mod:`fold` makes the state of a project (:mod:`state`) from them. :mod:`disclosure` is the only way
from what the owner knows to what a developer is shown.
"""
