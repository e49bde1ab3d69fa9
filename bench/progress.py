"""Progress lines of a long run, and work on both cores."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

WORKERS = 2

Item = TypeVar("Item")
Found = TypeVar("Found")


def tell(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def on_both_cores(work: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
    """Do the work for every item on both cores; the results in the order of the items."""
    return list(as_done(work, items))


def as_done(work: Callable[[Item], Found], items: Iterable[Item]) -> Iterator[Found]:
    """Results in the order of the items, each as soon as it is there.

    Fresh processes, because polars doesn't survive a fork.
    """
    with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(work, items)
