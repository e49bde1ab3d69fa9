"""The installed command, run for real."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def easeci(
    *arguments: str, folder: Path | None = None, columns: int = 80, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run ``easeci`` as a user would; output is text without colours, 80 columns wide."""
    command = Path(sys.executable).with_name("easeci")
    return subprocess.run(
        [str(command), *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": str(columns), "LANG": "C.UTF-8", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
