"""A line for every step of a long run, and both cores for what may share them."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

WORKERS = 2

Item = TypeVar("Item")
Found = TypeVar("Found")


def tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def on_both_cores(work: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
    """Fresh processes, because polars doesn't survive a fork; results in the order of the items."""
    with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(work, items))
