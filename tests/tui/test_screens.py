"""The snapshots of `screens.py`, compared in a process that has the plugin for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCREENS = Path(__file__).with_name("screens.py")


def test_the_screens_look_as_they_did_when_somebody_looked_at_them(tmp_path: Path) -> None:
    plain = ["-o", "addopts=", "--import-mode=importlib", "-p", "no:cacheprovider"]
    plugins = ["no:langsmith_plugin", "no:schemathesis", "no:xdist"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plain, *(f"-p{name}" for name in plugins), SCREENS],
        cwd=tmp_path,
        env={name: text for name, text in os.environ.items() if "XDIST" not in name},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
