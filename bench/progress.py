"""A line for every step of a long run, and both cores for what may share them."""

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
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def on_both_cores(work: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
    """All results, in the order of the items."""
    return list(as_done(work, items))


def as_done(work: Callable[[Item], Found], items: Iterable[Item]) -> Iterator[Found]:
    """Results in the order of the items, each as soon as it is there.

    Fresh processes, because polars doesn't survive a fork.
    """
    with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(work, items)
