"""One function per user action: read, decide purely, append, then effects.

What the command line offers, as a library. Scripts come from a file, from a YAML text or from a
condition and keywords; predictions and labels from files, data frames, mappings or sequences.

Actions on a project (testsets, commits, baselines, views) have modules of their own, which load
the store and the vault; what is named here does not, so that a plan stays instant.
"""

from easeci.service.checks import Checked, check, make_plan, write_ids
from easeci.service.scripts import (
    DEFAULTS,
    SCRIPT_FILES,
    find_script,
    load_entries,
    load_script,
    make_script,
    write_new_script,
)

__all__ = [
    "DEFAULTS",
    "SCRIPT_FILES",
    "Checked",
    "check",
    "find_script",
    "load_entries",
    "load_script",
    "make_plan",
    "make_script",
    "write_ids",
    "write_new_script",
]
