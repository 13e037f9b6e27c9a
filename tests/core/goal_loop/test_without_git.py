"""A machine without git: runs work, and say what cannot be looked at."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

Runs = Any


@pytest.fixture(autouse=True)
def no_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where it is not installed."""
    find = shutil.which

    def found(name: str, *args: Any, **more: Any) -> str | None:
        return None if name == "git" else find(name, *args, **more)

    monkeypatch.setattr(shutil, "which", found)


async def test_an_honest_run_is_achieved_and_says_that_its_diff_was_not_looked_through(
    runs: Runs,
) -> None:
    fix = {"calls": [{"name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}
    record = await runs.run([fix])
    assert record.status == "achieved", record.reason
    assert any("git" in finding for finding in record.findings)
