"""Settings become a request: every source in its order, consent to what was shown, JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retrai_core import RunManager, RunRecord, RunRequest, TrustRequired, UsageError

from ..running import Runs, elsewhere, manager_for

MEND = {"calls": [{"name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}
PLAIN: dict[str, Any] = {
    "model": "turns",
    "memory": "none",
    "sandbox": "local",
    "python": sys.executable,
    "plugins": {"turns": {"turns": [MEND]}},
}


@pytest.fixture(autouse=True)
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's configuration, which is not there yet; nothing is trusted."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RETRAI_STATE_DIR", str(tmp_path / "state"))
    for name in ("RETRAI_TRUST", "RETRAI_MAX_ITERATIONS", "RETRAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "config" / "retrai" / "config.yml"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def manager(runs: Runs) -> RunManager:
    return manager_for(runs.store)


async def test_the_later_source_is_stronger(
    runs: Runs, manager: RunManager, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def limit(**settings: Any) -> tuple[int, str]:
        request = await manager.prepare(runs.project, **PLAIN, **settings)
        return request.config.max_iterations, request.origins["max_iterations"]

    project_file = runs.project / ".retrai.yml"
    assert await limit() == (50, "default")
    user_file.write_text("max_iterations: 3\n")
    assert await limit() == (3, str(user_file))
    project_file.write_text("max_iterations: 4\n")
    assert await limit() == (4, str(project_file))
    monkeypatch.setenv("RETRAI_MAX_ITERATIONS", "5")
    assert await limit() == (5, "RETRAI_MAX_ITERATIONS")
    assert await limit(max_iterations=6) == (6, "flag")
    assert await limit(max_iterations=None) == (5, "RETRAI_MAX_ITERATIONS")


async def test_a_prepared_request_names_goal_options_and_versions(
    runs: Runs, manager: RunManager
) -> None:
    request = await manager.prepare(
        runs.project,
        **PLAIN,
        labels={"team": "shop"},
        input={"task": "fix it"},
        suspicious="wrong",
    )
    [goal] = request.goals
    assert (goal.name, goal.found_by) == ("expected-text", "expected.txt")
    assert goal.options == {"suspicious": "wrong"}
    assert request.versions["scripted-plugins"] == "1.0"
    assert (request.labels, request.config.input) == ({"team": "shop"}, {"task": "fix it"})
    assert await runs.store.list() == [], "nothing is kept before it is submitted"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"max_iteration": 3}, "max_iterations"),
        ({"max_iterations": 0}, "must be 1 or more"),
        ({"goal": "expected-txt"}, "expected-text"),
        ({"goal": ["expected-text", "expected-text"]}, "goal"),
        ({"options": {"fails_in_copy": True}}, "fails_in_copies"),
        ({"agent": "goal_loop"}, "goal-loop"),
        ({"goal": 3}, "goal: input should be a valid string, got 3"),
        ({"input": "hello"}, "input: input should be a valid dictionary"),
        ({"labels": {"a": 1}}, "labels: input should be a valid string, got 1"),
        ({"labels": ["a"]}, "labels: input should be a valid dictionary"),
        ({"engine": "process"}, "RunManager(engine=...)"),
        ({"store": "files"}, "RunManager(store=...)"),
        ({"agents": {"talkr": {}}}, "no agent is called `talkr`"),
        ({"goals": {"expected-txt": {}}}, "did you mean `expected-text`"),
        ({"goals": {"expected-text": {"use": "shell-goal"}}}, "expected-text is an installed goal"),
        ({"continues": "zzz"}, "continues: no run"),
        ({"parent": "zzz"}, "parent: no run"),
    ],
)
async def test_what_cannot_be_is_a_usage_error_and_leaves_no_run(
    runs: Runs, manager: RunManager, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(UsageError) as caught:
        await manager.prepare(runs.project, **PLAIN, **given)
    assert says in str(caught.value)
    assert await runs.store.list() == []


async def test_every_method_says_what_is_wrong_with_an_argument(
    runs: Runs, manager: RunManager
) -> None:
    record = await runs.run([MEND])
    run = await manager.get(record.id[:8])
    request = RunRequest(config=runs.config([MEND]))
    untyped: Any = manager
    calls: list[Callable[[], Any]] = [
        lambda: untyped.prepare(None),
        untyped.prepare,
        lambda: untyped.get(None),
        lambda: untyped.submit("x"),
        lambda: untyped.check(request, baseline="x"),
        lambda: untyped.list(before="x"),
        lambda: untyped.list(status="nope"),
        lambda: untyped.list(limit=-1),
        lambda: untyped.list(no_such_filter=1),
        lambda: untyped.prune(keep=-1),
        lambda: untyped.prune(older_than_days=-0.5),
        lambda: untyped.model("offline", temperature=9),
        lambda: untyped.plan(None),
        lambda: untyped.plugins("nope"),
        lambda: untyped.plugins(3),
        lambda: run.answer("q", 3),  # pyright: ignore[reportArgumentType]
        lambda: run.cancel("achieved"),  # pyright: ignore[reportArgumentType]
        lambda: run.undo(77),
    ]
    for call in calls:
        with pytest.raises(UsageError):
            await call()
    assert [run.id for run in await untyped.list(limit="5", status="achieved")] == [record.id]


async def test_a_request_for_a_check_alone_needs_a_goal_and_no_model(
    runs: Runs, manager: RunManager
) -> None:
    asked = {**PLAIN, "model": "nobody-serves-this", "goal": "expected-text"}
    with pytest.raises(UsageError, match="nobody-serves-this"):
        await manager.prepare(runs.project, **asked)
    request = await manager.prepare(runs.project, **asked, check_only=True)
    assert not (await manager.check(request, final=False)).achieved
    with pytest.raises(UsageError, match="nobody-serves-this"):
        await manager.submit(request)
    with pytest.raises(UsageError, match="no-such-goal"):
        await manager.prepare(runs.project, **{**asked, "goal": "no-such-goal"}, check_only=True)


async def test_a_request_without_a_goal_is_not_checked(runs: Runs, manager: RunManager) -> None:
    asked: dict[str, Any] = {"agent": "talk", "input": {"question": "why?"}}
    request = await manager.prepare(runs.project, **PLAIN, **asked)
    with pytest.raises(UsageError, match="no goal to check, only the agent talk"):
        await manager.check(request)


async def test_what_has_not_ended_is_not_continued(runs: Runs) -> None:
    async with manager_for(runs.store, max_parallel=0) as manager:
        waiting = await manager.submit(RunRequest(config=runs.config([MEND])))
        with pytest.raises(UsageError, match="has no result yet: pending"):
            await manager.prepare(runs.project, **PLAIN, continues=waiting.id)


async def test_a_closed_manager_takes_no_run(runs: Runs, manager: RunManager) -> None:
    await manager.aclose()
    with pytest.raises(UsageError, match="the manager is closed"):
        await manager.submit(RunRequest(config=runs.config([MEND])))
    assert await runs.store.list() == []


async def test_consent_is_to_exactly_what_was_shown(runs: Runs, manager: RunManager) -> None:
    project_file = runs.project / ".retrai.yml"
    plain = {name: value for name, value in PLAIN.items() if name != "plugins"}
    project_file.write_text("plugins: {hang: {limit_s: 30}, turns: {turns: []}}\n")
    with pytest.raises(TrustRequired) as shown:
        await manager.prepare(runs.project, **plain)
    assert shown.value.items["plugins.hang"] == {"limit_s": 30}
    digest = shown.value.digest

    project_file.write_text("plugins: {hang: {limit_s: 31}, turns: {turns: []}}\n")
    with pytest.raises(TrustRequired) as changed:
        await manager.prepare(runs.project, **plain, trust=digest)
    assert changed.value.digest != digest

    project_file.write_text("plugins: {hang: {limit_s: 30}, turns: {turns: []}}\n")
    request = await manager.prepare(runs.project, **plain, trust=digest)
    assert request.digest == digest
    assert (await manager.prepare(runs.project, **plain)).digest == digest, "it is remembered"


async def test_a_request_survives_json_and_another_process(runs: Runs, manager: RunManager) -> None:
    project_file = runs.project / ".retrai.yml"
    project_file.write_text("max_iterations: 5\n")
    parent = (await runs.run([MEND])).id
    (runs.project / "a.txt").write_text("wrong\n")
    asked = {"labels": {"team": "shop"}, "parent": parent, "input": {"task": "fix it"}}
    request = await manager.prepare(runs.project, **PLAIN, **asked)
    again = RunRequest.model_validate_json(request.model_dump_json())
    assert again.model_dump() == request.model_dump()
    assert again.run_id == request.run_id

    project_file.write_text("max_iterations: 0\n")  # nobody reads it again
    async with elsewhere(runs.store, again) as process:
        assert await process.wait() == 0
    record = await runs.store.load(request.run_id)
    assert (record.status, record.limits.max_iterations) == ("achieved", 5)
    assert (record.labels, record.parent, record.input) == tuple(asked.values())


async def test_a_request_of_a_configuration_alone_keeps_its_id_and_folder_in_json(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs.project)
    config = runs.config([MEND]).model_copy()
    request = RunRequest(config=config)
    monkeypatch.chdir("/")
    again = RunRequest.model_validate_json(request.model_dump_json())
    assert (again.run_id, again.config.cwd) == (request.run_id, runs.project)


async def test_a_request_that_this_installation_cannot_run_leaves_no_run(runs: Runs) -> None:
    text = RunRequest(config=runs.config([MEND], tools=["putt"])).model_dump_json()
    async with manager_for(runs.store) as manager:
        with pytest.raises(UsageError, match="did you mean `put`"):
            await manager.submit(RunRequest.model_validate_json(text))
    assert await runs.store.list() == []


async def test_a_submitted_run_can_be_found_by_the_beginning_of_its_id(runs: Runs) -> None:
    async with manager_for(runs.store) as manager:
        run = await manager.submit(RunRequest(config=runs.config([MEND])))
        found = await manager.get(run.id[:6])
        assert found.id == run.id
        record: RunRecord = await found.result()
        assert (record.status, record.engine) == ("achieved", "inline")
