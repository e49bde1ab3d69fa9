"""Modules about builds can be imported on any system; only a build needs Linux."""

from __future__ import annotations

import subprocess
import sys

HIDDEN = ("fcntl", "grp", "pwd", "resource", "termios")
IMPORT_ALL = f"""
import importlib, os, pkgutil, sys
for name in {HIDDEN!r}:
    sys.modules[name] = None
for name in ("geteuid", "sysconf", "O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "pidfd_open"):
    delattr(os, name)
import easeci.build
assert not [name for name in sys.modules if name.startswith("easeci.build.")]
for module in pkgutil.iter_modules(easeci.build.__path__):
    if module.name != "supervise":  # a script that only a build starts
        importlib.import_module(f"easeci.build.{{module.name}}")
"""


def test_modules_of_unix_are_loaded_only_for_a_build() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
