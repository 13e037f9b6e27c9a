"""A usage error that is found only inside a run leaves no run behind; a defect leaves a record."""

from __future__ import annotations

import json
from typing import Any

import pytest

from retrai_core import FilesStore, RunRequest
from retrai_core.errors import PluginError, UsageError

from ..running import manager_for

Runs = Any
"""The fixture's class, in conftest.py."""


async def missing_runner(_: Any) -> str:
    return "the runner is missing"


async def refused_check(*_: Any) -> None:
    raise UsageError("no such option")


async def test_a_goal_that_is_not_ready_leaves_no_run(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    monkeypatch.setattr(scripted_plugins.ExpectedText, "ready", missing_runner)
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
    assert await runs.store.list() == []


async def test_a_defect_leaves_its_record_and_its_traceback(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    async def check(*_: Any) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(scripted_plugins.ExpectedText, "check", check)
    assert (await runs.run([])).status == "error"
    [record] = await runs.store.list()
    assert record.status == "error"
    assert (runs.store.folder(record.id) / "error.txt").exists()


@pytest.mark.parametrize("where", ["choosing", "ready"])
async def test_a_usage_error_of_a_resume_leaves_the_record_as_it_was(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    import scripted_plugins

    failed = await runs.run([{"text": "I give up"}], max_iterations=1)
    assert (failed.status, failed.evidence.before.achieved) == ("failed", False)
    path = runs.store.folder(failed.id) / "run.json"
    kept = json.loads(path.read_text())
    with monkeypatch.context() as patch:
        if where == "choosing":
            patch.setenv("RETRAI_DISABLE_PLUGINS", "turns")
        else:
            patch.setattr(scripted_plugins.ExpectedText, "ready", missing_runner)
        with pytest.raises((UsageError, PluginError)) as caught:
            await runs.resume(failed.id, max_iterations=3)
    assert caught.value.exit_code == 2
    left = json.loads(path.read_text())
    assert left.pop("commands_seen") == 1, "what was asked for then is not carried out later"
    assert left == {name: value for name, value in kept.items() if name != "commands_seen"}
    assert (await runs.resume(failed.id, max_iterations=2)).iterations == 2


async def test_what_goes_wrong_once_a_resumed_run_has_begun_is_its_outcome(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    import scripted_plugins

    failed = await runs.run([{"text": "I give up"}], max_iterations=1)
    monkeypatch.setattr(scripted_plugins.ExpectedText, "check", refused_check)
    record = await runs.resume(failed.id, max_iterations=3)
    assert (record.status, (await runs.store.load(failed.id)).status) == ("error", "error")


@pytest.mark.parametrize("method", ["ready", "check"])
async def test_a_run_that_is_resumed_is_never_removed(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    import scripted_plugins

    async with manager_for(runs.store, max_parallel=0) as manager:
        record = await (await manager.submit(RunRequest(config=runs.config([])))).record()
    record.status = "interrupted"
    record.save(runs.store.folder(record.id))
    stand_in = missing_runner if method == "ready" else refused_check
    monkeypatch.setattr(scripted_plugins.ExpectedText, method, stand_in)
    with pytest.raises(UsageError):
        await runs.resume(record.id)
    [kept] = await runs.store.list()
    assert (kept.id, kept.status, kept.resumable) == (record.id, "interrupted", True)


async def test_records_that_the_agent_could_change_are_refused(runs: Runs) -> None:
    runs.store = FilesStore(state=runs.project / "state")
    with pytest.raises(UsageError, match="lies in the project") as caught:
        await runs.run([])
    assert "RETRAI_STATE_DIR" in caught.value.hint
    assert not (runs.project / "state" / "runs").exists()
