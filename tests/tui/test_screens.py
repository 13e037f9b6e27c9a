"""The snapshots of `screens.py`, compared in a process that has the plugin for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCREENS = Path(__file__).with_name("screens.py")
_CHECKOUT = Path(__file__).parents[2]
SNAPSHOTS = Path(os.environ.get("TESTS_SNAPSHOTS_DIR", _CHECKOUT / ".tox" / "snapshots"))


@pytest.mark.skipif(
    not (SNAPSHOTS / "installed").is_file(),
    reason="pytest-textual-snapshot is not installed: run tests/tui/install_snapshots.sh",
)
def test_the_screens_look_as_they_did_when_somebody_looked_at_them(tmp_path: Path) -> None:
    plain = ["-o", "addopts=", "--import-mode=importlib", "-p", "no:cacheprovider"]
    plugins = ["no:langsmith_plugin", "no:schemathesis", "no:xdist"]
    environment = {name: text for name, text in os.environ.items() if "XDIST" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plain, *(f"-p{name}" for name in plugins), SCREENS],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(SNAPSHOTS / "packages")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
