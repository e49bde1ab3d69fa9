"""The append-only record of a project: what was done, what was spent, what was disclosed.

Events are immutable data (:mod:`events`), bound to each other by a keyed chain (:mod:`chain`). The
state of a project is a fold over them (:mod:`state`). :mod:`disclosure` is the only way from what
the owner knows to what a developer is shown.
"""

from easeci.ledger.chain import Record, chained, find_damage
from easeci.ledger.disclosure import disclose
from easeci.ledger.events import Event
from easeci.ledger.signals import Signal
from easeci.ledger.state import State, fold

__all__ = ["Event", "Record", "Signal", "State", "chained", "disclose", "find_damage", "fold"]
