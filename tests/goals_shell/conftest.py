"""Goals of this pack on real projects with the real programs, in the `local` sandbox."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from ..goal_bench import bench, diff_of, run_goal

__all__ = ["bench", "diff_of", "run_goal"]


def cargo_runs() -> bool:
    """Whether cargo is there and has a tool chain: rustup's own `cargo` may have none."""
    found = shutil.which("cargo")
    asked = [found or "", "--version"]
    return bool(found) and not subprocess.run(asked, capture_output=True, check=False).returncode


needs_cargo = pytest.mark.skipif(not cargo_runs(), reason="cargo is not installed")
needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="cc is not installed")
