"""A usage error that is found only inside a run leaves no run behind; a defect leaves a record."""

from __future__ import annotations

from typing import Any

import pytest

from retrai_core.errors import PluginError, UsageError
from retrai_core.run_manager import RunManager

Runs = Any
"""The fixture's class, in conftest.py."""


async def test_a_goal_that_is_not_ready_leaves_no_run(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    async def ready(_: Any) -> str:
        return "the runner is missing"

    monkeypatch.setattr(scripted_plugins.ExpectedText, "ready", ready)
    with pytest.raises(UsageError, match="cannot be checked: the runner is missing"):
        await runs.run([])
    assert list(runs.store.runs.iterdir()) == []


@pytest.mark.parametrize("error", [UsageError, PluginError])
async def test_an_error_of_the_first_check_that_the_user_can_mend_leaves_no_run(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    import scripted_plugins

    async def check(*_: Any) -> None:
        raise error("no such option")

    monkeypatch.setattr(scripted_plugins.ExpectedText, "check", check)
    with pytest.raises(error, match="no such option"):
        await runs.run([])
    assert runs.store.list() == []


async def test_a_defect_leaves_its_record_and_its_traceback(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    async def check(*_: Any) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(scripted_plugins.ExpectedText, "check", check)
    assert (await runs.run([])).status == "error"
    [record] = runs.store.list()
    assert record.status == "error"
    assert (runs.store.folder(record.id) / "error.txt").exists()


async def test_a_run_that_is_resumed_is_never_removed(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    async def ready(_: Any) -> str:
        return "the runner is missing"

    manager = RunManager(runs.store)
    record = await manager.create(runs.config([]))
    record.status = "interrupted"
    record.save(runs.store.folder(record.id))
    monkeypatch.setattr(scripted_plugins.ExpectedText, "ready", ready)
    with pytest.raises(UsageError):
        await RunManager(runs.store).resume(record.id)
    [kept] = runs.store.list()
    assert (kept.id, kept.resumable) == (record.id, True)
