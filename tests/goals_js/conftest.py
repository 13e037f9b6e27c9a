"""Goals and the tool of this pack with the real bun, node, npm, jest, vitest and mocha."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ..goal_bench import bench, diff_of, run_goal

__all__ = ["bench", "diff_of", "run_goal"]

JS = Path(os.environ.get("TESTS_JS_DIR") or Path(__file__).parents[2] / ".tox" / "js")
"""Where `install_bun.sh` puts bun and the runners."""

INSTALL = "run tests/goals_js/install_bun.sh"
needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
needs_runners = pytest.mark.skipif(
    shutil.which("npm") is None or not (JS / "node_modules" / "jest").exists(),
    reason=f"jest, vitest and mocha are not installed: {INSTALL}",
)
needs_bun = pytest.mark.skipif(
    not (JS / "bin" / "bun").exists() and shutil.which("bun") is None,
    reason=f"bun is not installed: {INSTALL}",
)


@pytest.fixture(autouse=True)
def bun_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{JS / 'bin'}")


def link_runners(project: Path) -> None:
    """Give a project the runners, as an installation elsewhere would."""
    (project / "node_modules").symlink_to(JS / "node_modules")
