"""Questions are data: asked by the run, answered by whoever comes first, wherever they are."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from retrai_core import Question, Run, RunRequest, UsageError
from retrai_core.errors import WorkspaceLockedError
from retrai_core.workspace.lock import WorkspaceLock

from ..running import SITE, Runs, elsewhere, manager_for, reached, submitted, work

LOOK = {"calls": [{"id": "l1", "name": "look", "args": {"path": "b.txt"}}]}
MEND = {"calls": [{"id": "p1", "name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}
ASKS_ABOUT_PUT: dict[str, Any] = {"plugins": {"asks": {"about": "put"}}}
ASKS_ABOUT_LOOK: dict[str, Any] = {"plugins": {"asks": {"about": "look"}}}


async def asked(run: Run) -> Question:
    """The one question that is open, as soon as there is one."""
    async with asyncio.timeout(60):
        async for event in run.events():
            if event.kind == "human_check_required" and (found := await run.questions()):
                assert len(found) == 1
                return found[0]
    raise AssertionError("nothing was asked")


async def test_a_question_is_stored_published_and_answered(runs: Runs) -> None:
    config = runs.config([MEND], **ASKS_ABOUT_PUT)
    async with submitted(runs.store, config, interactive=True) as run:
        question = await asked(run)
        assert (question.kind, question.state, question.run_id) == ("tool", "open", run.id)
        assert question.data["tool"] == "put"
        assert question.data["call_id"] == "p1"
        assert question.data["args"] == {"path": "a.txt", "text": "right\n"}
        assert [choice.kind for choice in question.choices] == [
            "allow_once",
            "allow_always",
            "reject",
        ]
        assert (await run.record()).status == "waiting"
        assert await run.answer(question.id, "approve")
        assert (await run.result()).status == "achieved"
        told = [event for event in await run.logged() if event.kind.startswith("human_check")]
    required, response = told
    assert Question.model_validate(required.payload["question"]) == question
    assert response.payload["question_id"] == question.id
    assert response.payload["decision"] == "approve"
    [kept] = await runs.store.questions(run.id)
    assert (kept.state, kept.answer and kept.answer.choice) == ("answered", "approve")


@pytest.mark.parametrize("word", ["approve", "yes", "continue", "true", "allow_once", " Approve "])
async def test_words_for_yes_are_one_choice(runs: Runs, word: str) -> None:
    config = runs.config([MEND], **ASKS_ABOUT_PUT)
    async with submitted(runs.store, config, interactive=True) as run:
        question = await asked(run)
        assert await run.answer(question.id, word)
        assert (await run.result()).status == "achieved"


async def test_a_refusal_is_told_to_the_model_and_the_run_goes_on(runs: Runs) -> None:
    async def refuse(question: Question) -> str:
        return "no" if question.kind == "tool" else "yes"

    config = runs.config([MEND], max_iterations=1, **ASKS_ABOUT_PUT)
    record = await work(runs.store, config, refuse)
    assert (record.status, record.refused) == ("failed", ["put a.txt: refused by the user"])


async def test_an_unknown_choice_or_question_is_a_usage_error_and_answers_nothing(
    runs: Runs,
) -> None:
    config = runs.config([MEND], **ASKS_ABOUT_PUT)
    async with submitted(runs.store, config, interactive=True) as run:
        question = await asked(run)
        with pytest.raises(UsageError, match="'perhaps' is no choice"):
            await run.answer(question.id, "perhaps")
        with pytest.raises(UsageError, match="no choice is given"):
            await run.answer(question.id)
        with pytest.raises(UsageError, match="has asked no question"):
            await run.answer(f"{question.id}0", "yes")
        assert await run.questions() == [question]
        assert await run.answer(question.id, "yes")


async def test_an_answer_that_holds_always_holds_for_the_run(runs: Runs) -> None:
    turns = [LOOK, LOOK, LOOK, MEND]
    async with submitted(
        runs.store, runs.config(turns, **ASKS_ABOUT_LOOK), interactive=True
    ) as run:
        assert await run.answer((await asked(run)).id, "allow_always")
        assert (await run.result()).status == "achieved"
        assert len(await runs.store.questions(run.id)) == 1


async def test_abort_ends_the_run_whatever_is_asked(runs: Runs) -> None:
    config = runs.config([MEND], **ASKS_ABOUT_PUT)
    async with submitted(runs.store, config, interactive=True) as run:
        assert await run.answer((await asked(run)).id, "abort")
        record = await run.result()
    assert (record.status, record.exit_code) == ("aborted", 3)
    assert (runs.project / "a.txt").read_text() == "wrong\n"


async def test_where_nobody_can_be_asked_no_run_waits(runs: Runs) -> None:
    record = await runs.run([MEND], max_iterations=1, **ASKS_ABOUT_PUT)
    assert record.status == "failed"
    assert "nobody can be asked" in record.refused[0]
    assert await runs.store.questions(record.id) == []


@pytest.mark.parametrize("status", ["aborted", "interrupted"])
async def test_what_is_open_is_withdrawn_when_the_run_ends(runs: Runs, status: Any) -> None:
    config = runs.config([MEND], **ASKS_ABOUT_PUT)
    async with submitted(runs.store, config, interactive=True) as run:
        question = await asked(run)
        assert await run.cancel(status)
        assert (await run.result()).status == status
        assert await run.questions() == []
        [kept] = await runs.store.questions(run.id)
        assert (kept.state, kept.answer) == ("withdrawn", None)
        assert not await run.answer(question.id, "yes"), "nobody waits for it any more"


async def test_what_was_open_when_the_run_was_stopped_is_asked_again(runs: Runs) -> None:
    config = runs.config([MEND], **ASKS_ABOUT_PUT)
    async with submitted(runs.store, config, interactive=True) as run:
        question = await asked(run)
        await run.cancel("interrupted")
        await run.result()
        await run.resume()
        async with asyncio.timeout(60):
            while not (found := await run.questions()):
                await asyncio.sleep(0.02)
        assert [each.id for each in found] == [question.id]
        assert await run.answer(question.id, "yes")
        assert (await run.result()).status == "achieved"


async def test_an_answer_of_another_process_wakes_the_run_and_the_first_one_wins(
    runs: Runs,
) -> None:
    config = runs.config([MEND], **ASKS_ABOUT_PUT)
    async with (
        elsewhere(runs.store, config, interactive=True) as process,
        manager_for(runs.store) as first,
        manager_for(runs.store) as second,
    ):
        run = await _found(first, config.run_id)
        question = await asked(run)
        same = await second.get(run.id)
        assert await same.questions() == [question]
        given = await asyncio.gather(
            run.answer(question.id, "yes"), same.answer(question.id, "yes")
        )
        assert sorted(given) == [False, True]
        assert (await run.result()).status == "achieved"
        assert await process.wait() == 0


ANSWERING = """
import asyncio, json, sys
from pathlib import Path
from retrai_core import FilesStore, RunManager

async def answer():
    async with RunManager(FilesStore(state=Path(sys.argv[1])), "inline") as manager:
        run = await manager.get(sys.argv[2])
        [question] = await run.questions()
        print(json.dumps([question.id, await run.answer(question.id, sys.argv[3])]))

asyncio.run(answer())
"""


async def test_an_answer_given_in_another_process_wakes_the_run_here(runs: Runs) -> None:
    config = runs.config([MEND], **ASKS_ABOUT_PUT)
    async with submitted(runs.store, config, interactive=True) as run:
        question = await asked(run)
        given = await _run(ANSWERING, str(runs.store.state), run.id, "approve")
        assert given == [question.id, True]
        assert (await run.result()).status == "achieved"
        assert not await run.answer(question.id, "no")


async def test_an_answer_that_came_before_a_kill_is_kept(runs: Runs) -> None:
    """The holder dies with the question open; the next one asks it again, by the same id."""
    config = runs.config([MEND], **ASKS_ABOUT_PUT)
    async with (
        elsewhere(runs.store, config, interactive=True) as process,
        manager_for(runs.store) as manager,
    ):
        run = await _found(manager, config.run_id)
        question = await asked(run)
        process.kill()
        await process.wait()
        await run.resume()
        async with asyncio.timeout(60):
            while not (found := await run.questions()):
                await asyncio.sleep(0.02)
            assert [each.id for each in found] == [question.id]
        assert await run.answer(question.id, "yes")
        assert (await run.result()).status == "achieved"


async def test_an_answer_survives_a_resume_that_was_refused(runs: Runs) -> None:
    config = runs.config([MEND], **ASKS_ABOUT_PUT)
    async with (
        elsewhere(runs.store, config, interactive=True) as process,
        manager_for(runs.store) as manager,
    ):
        run = await _found(manager, config.run_id)
        question = await asked(run)
        process.kill()
        await process.wait()
        assert await run.answer(question.id, "yes")
        with WorkspaceLock(runs.project, runs.store.state, "another"):
            await run.resume()
            with pytest.raises(WorkspaceLockedError):
                await run.result()
        await run.resume()
        async with asyncio.timeout(60):
            assert (await run.result()).status == "achieved"


async def test_waiting_ends_with_the_answer_and_is_told(runs: Runs) -> None:
    seen: list[str] = []
    async with manager_for(runs.store) as manager:

        async def watch() -> None:
            async for record in manager.events():
                seen.append(record.status)  # noqa: PERF401 - read before its end

        watcher = asyncio.ensure_future(watch())
        await asyncio.sleep(0)
        request = RunRequest(config=runs.config([MEND], **ASKS_ABOUT_PUT), interactive=True)
        run = await manager.submit(request)
        question = await asked(run)
        async with asyncio.timeout(60):
            while "waiting" not in seen:
                await asyncio.sleep(0.02)
        await run.answer(question.id, "yes")
        await run.result()
        async with asyncio.timeout(60):
            while seen[-1] != "achieved":
                await asyncio.sleep(0.02)
        watcher.cancel()
    assert (await runs.store.load(run.id)).worked_s > 0


async def test_after_each_iteration_a_person_is_asked_where_the_user_wants_it(runs: Runs) -> None:
    kinds: list[Mapping[str, Any]] = []

    async def answer(question: Question) -> str:
        kinds.append(question.data)
        assert question.kind == "iteration"
        return "yes"

    put = {"calls": [{"name": "put", "args": {"path": "a.txt", "text": "half\n"}}]}
    record = await runs.run([put, MEND], answer, hitl_enabled=True)
    assert record.status == "achieved"
    assert ["half" in str(data["diff"]) for data in kinds] == [True]


async def _found(manager: Any, run_id: str) -> Run:
    from retrai_core import RunNotFoundError

    async with asyncio.timeout(60):
        while True:
            try:
                run = await manager.get(run_id)
            except RunNotFoundError:
                await asyncio.sleep(0.02)
            else:
                await reached(run, "human_check_required")
                return run


async def _run(code: str, *args: str) -> Any:
    command = [sys.executable, "-c", code, *args]
    env = os.environ | {"PYTHONPATH": str(SITE)}
    process = await asyncio.create_subprocess_exec(
        *command, env=env, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    return json.loads(out)
