"""Times of the files for programs, which tell nothing about them."""

from __future__ import annotations

import os
from pathlib import Path

from easeci.files import explained
from easeci.vault.paths import EXAMPLES, VAULT

LAST_CHANGED = 315_532_800
"""When all files for programs were changed: the first day of 1980. So this time tells nothing."""
LAST_READ = 4_102_444_800
"""When they were read: the first day of 2100. Linux keeps a time of access that lies in the future
(unless mounted with strictatime), so it does not tell which files a labeller has seen. A program in
the weaker sandbox can't open these files, but if it knows their names, it can ask for this time."""


def forget_times(folder: Path) -> None:
    """Give all files in a folder, and all folders, the same times."""
    for parent, _, files in os.walk(folder, topdown=False):
        for name in (*files, "."):
            os.utime(Path(parent, name), (LAST_READ, LAST_CHANGED))


def forget_all_times(store: Path) -> None:
    """Do this for all testsets of a store; a read-only one stays as it is."""
    if os.access(store, os.W_OK):
        with explained(f"the store {store} cannot be used"):
            for examples in (store / VAULT).glob(f"*/*/{EXAMPLES}"):
                forget_times(examples)
