"""What stores are filled with, and how another process sees them."""

from __future__ import annotations

from easeci.store.store import Store
from tests.histories import History

RECORDS = History.begun().commit("1", True).records


def again(store: Store) -> Store:
    """As another process would see it."""
    return Store.open(store.folder)
