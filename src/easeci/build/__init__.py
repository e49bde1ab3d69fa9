"""Building a commit: a clean checkout, its program in a sandbox, the predictions that it writes."""

from easeci.build.archive import restore_archive, save_archive
from easeci.build.bubblewrap import Bubblewrap
from easeci.build.checkout import checkout
from easeci.build.detection import find_sandbox
from easeci.build.landlock import Landlock, Unsandboxed
from easeci.build.program import (
    LOG_NAME,
    ArchiveSource,
    BuiltPredictions,
    CommitSource,
    Program,
    make_predictions,
)
from easeci.build.repository import Repository
from easeci.build.sandbox import Limits, Sandbox
from easeci.build.workspace import NORMAL_TIME

__all__ = [
    "LOG_NAME",
    "NORMAL_TIME",
    "ArchiveSource",
    "Bubblewrap",
    "BuiltPredictions",
    "CommitSource",
    "Landlock",
    "Limits",
    "Program",
    "Repository",
    "Sandbox",
    "Unsandboxed",
    "checkout",
    "find_sandbox",
    "make_predictions",
    "restore_archive",
    "save_archive",
]
