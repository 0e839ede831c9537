# ruff: noqa: INP001  (a part of the documentation, not of a package)
"""Scripts whose output stands on a page, run whenever the pages are built.

docs/examples/NAME.py → docs/_generated/NAME.txt        (never committed)
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).parent / "examples"
PLACE = Path(__file__).parent / "_generated"


def write(place: Path = PLACE) -> list[Path]:
    """Run every script, warnings as errors, and keep what it printed."""
    place.mkdir(exist_ok=True)
    return [run(script, place / f"{script.stem}.txt") for script in sorted(SCRIPTS.glob("*.py"))]


def run(script: Path, target: Path) -> Path:
    """Run one script; what it says is written where it is not there already."""
    command = [sys.executable, "-W", "error", str(script)]
    quiet = os.environ | {"OMP_NUM_THREADS": "1"}  # small tensors: where the machine is busy, more threads only spin
    done = subprocess.run(command, env=quiet, capture_output=True, text=True, check=False)  # noqa: S603  # our own
    if done.returncode:
        message = f"{script.name} ended with {done.returncode}:\n{done.stderr}"
        raise RuntimeError(message)
    if not target.exists() or target.read_text(encoding="utf-8") != done.stdout:
        target.write_text(done.stdout, encoding="utf-8")
    return target
