"""What a plugin lays outside of the project goes away once its process is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from retrai_core.workspace.temporary import remove_left_folders
from retrai_goal_support import temporary_prefix

LAY = """
import tempfile
from retrai_goal_support import temporary_prefix
for start in ("retrai-scratch", "tmp"):
    tempfile.mkdtemp(prefix=temporary_prefix(start))
"""


def test_the_core_removes_what_a_process_that_is_gone_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = Path(tempfile.mkdtemp(prefix=temporary_prefix("retrai-scratch")))
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", LAY], env=env, check=True)
    assert len(list(tmp_path.iterdir())) == 3
    remove_left_folders()
    assert list(tmp_path.iterdir()) == [own]
