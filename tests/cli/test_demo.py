"""`retrai demo` fixes a copy of the quickstart, with no key and no network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from retrai_core.runs.demo import QUICKSTART

from .kept import kept_runs


def test_the_quickstart_is_a_project_worth_mending() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"],
        cwd=QUICKSTART,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    (failed, passed) = map(int, re.findall(r"(\d+) (?:failed|passed)", done.stdout)[-2:])
    assert failed >= 5
    assert failed + passed >= 20
    assert len([path for path in QUICKSTART.glob("shop/*.py") if path.stem != "__init__"]) >= 4


def test_the_demo_mends_a_copy_and_shows_the_diff_and_the_evidence(
    retrai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("retrai_llm_offline")
    before = {path: path.read_bytes() for path in QUICKSTART.rglob("*.py")}
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)  # it is read from the environment once
    code, out, _ = retrai("demo")
    assert code == 0, out
    (record,) = kept_runs()
    assert record.project.parent.parent == tmp_path
    assert record.changed_files == ["shop/money.py", "shop/orders.py", "shop/stock.py"]
    assert record.evidence.before is not None
    assert record.evidence.after is not None
    assert record.evidence.before.counts["failed"] >= 5
    assert set(record.evidence.after.counts) == {"passed"}
    assert "achieved: " in out
    assert "\n-" in out
    assert "\n+" in out
    assert {path: path.read_bytes() for path in QUICKSTART.rglob("*.py")} == before
