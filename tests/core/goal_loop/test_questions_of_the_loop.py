"""What the goal loop asks a person, and that an answer is found again and reaches no other call."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

from retrai_core import Question, RunManager

from ..running import elsewhere, reached, submitted

Runs = Any
"""The fixture's class, in conftest.py."""


def put(path: str, text: str) -> dict[str, Any]:
    """One turn that writes a file."""
    call = {"id": f"put-{text.strip()}", "name": "put", "args": {"path": path, "text": text}}
    return {"text": "", "calls": [call]}


def shell(line: str) -> dict[str, Any]:
    """One turn that runs a command."""
    call = {"id": f"shell-{line}", "name": "shell", "args": {"line": line}}
    return {"text": "", "calls": [call]}


class Person:
    """Answers every question in the same way, where it can; remembers them."""

    def __init__(self, answer: str = "approve") -> None:
        self.asked: list[Question] = []
        self._answer = answer

    async def __call__(self, question: Question) -> str:
        self.asked.append(question)
        offered = [choice.id for choice in question.choices]
        return self._answer if self._answer in offered else "approve"

    def kinds(self) -> list[str]:
        return [question.kind for question in self.asked]


async def test_after_an_iteration_it_shows_what_has_changed_since_the_last_answer(
    runs: Runs,
) -> None:
    person = Person()
    turns = [put("a.txt", "one\n"), put("a.txt", "two\n"), put("a.txt", "right\n")]
    record = await runs.run(turns, ask=person, hitl_enabled=True)
    assert record.status == "achieved"
    assert person.kinds() == ["iteration", "iteration"]
    first, second = (question.data for question in person.asked)
    assert (first["iteration"], first["reason"]) == (1, "1 of 2 files are wrong")
    assert "-wrong\n+one\n" in first["diff"]
    assert "-one\n+two\n" in second["diff"]
    assert "-wrong" not in second["diff"]
    choices = [(choice.id, choice.kind) for choice in person.asked[0].choices]
    assert choices == [
        ("approve", "allow_once"),
        ("approve_always", "allow_always"),
        ("abort", "reject"),
    ]


async def test_going_on_without_being_asked_again_holds_for_checks_and_not_for_a_stop(
    runs: Runs,
) -> None:
    person = Person("approve_always")
    looks = {"text": "", "calls": [{"name": "look", "args": {"path": "a.txt"}}]}
    record = await runs.run([looks], ask=person, hitl_enabled=True, max_iterations=9)
    assert record.status == "stuck"
    asked = [question.text for question in person.asked]
    assert asked[:2] == ["Go on?", "Go on anyway?"]
    assert set(asked[1:]) == {"Go on anyway?"}
    assert [choice.kind for choice in person.asked[1].choices] == ["allow_once", "reject"]


async def test_a_suspect_verdict_is_a_question_of_its_own(runs: Runs) -> None:
    person = Person("abort")
    options = {"suspicious": "right"}
    turns = [put("a.txt", "right\n")]
    await runs.run(turns, ask=person, hitl_enabled=True, options=options)
    assert person.kinds() == ["suspicion"]
    assert "reaches into the check" in person.asked[0].data["reason"]
    assert "+right" in person.asked[0].data["diff"]


async def test_a_call_is_asked_about_with_all_that_it_is(runs: Runs) -> None:
    person = Person()
    asking = {"plugins": {"asks": {"about": "put"}}}
    record = await runs.run([put("a.txt", "right\n")], ask=person, **asking)
    assert record.status == "achieved"
    [question] = person.asked
    assert (question.kind, question.id.rpartition(".")[0]) == ("tool", "act.0.0")
    assert question.data == {
        "reason": "to be sure",
        "call_id": "put-right",
        "tool": "put",
        "args": {"path": "a.txt", "text": "right\n"},
        "paths": ["a.txt"],
    }
    assert [choice.id for choice in question.choices] == ["approve", "approve_always", "reject"]


async def test_a_tool_that_is_always_allowed_is_allowed_in_a_resumed_run_too(runs: Runs) -> None:
    person = Person("approve_always")
    asking = {"plugins": {"asks": {"about": "put"}}}
    turns = [put("a.txt", "one\n"), put("a.txt", "two\n"), put("a.txt", "right\n")]
    record = await runs.run(turns, ask=person, max_iterations=2, **asking)
    assert (record.status, len(person.asked)) == ("failed", 1)
    ended = await runs.resume(record.id, max_iterations=3)
    assert ended.status == "achieved"
    assert ended.refused == []


async def test_the_call_that_is_asked_about_has_not_begun(runs: Runs) -> None:
    asking = {"plugins": {"asks": {"about": "put"}}}
    config = runs.config([put("a.txt", "right\n")], **asking)
    await killed_while_asked(runs, config)
    async with RunManager(runs.store, "inline") as manager:
        run = await manager.get(config.run_id)
        await run.resume()
        await answer(run, "approve")
        record = await run.result()
    assert record.status == "achieved"
    assert runs.tool_results(record) == ["written"]
    assert (runs.store.folder(record.id) / "put").read_text().splitlines() == ["a.txt"]


async def test_a_protected_file_is_asked_about_again_after_a_kill_and_written_once(
    runs: Runs,
) -> None:
    bend = put("expected.txt", "a.txt: wrong\nb.txt: fine\n")
    config = runs.config([bend])
    await killed_while_asked(runs, config)
    async with RunManager(runs.store, "inline") as manager:
        run = await manager.get(config.run_id)
        await run.resume()
        question = await answer(run, "approve")
        record = await run.result()
    assert (question.kind, question.data["paths"]) == ("protected_file", ["expected.txt"])
    assert question.data["call_id"] == bend["calls"][0]["id"]
    assert record.status == "achieved", record.reason
    assert runs.tool_results(record) == ["written"]
    assert record.allowed_edits == ["expected.txt: approved by a person"]


async def test_an_approval_reaches_no_other_call_at_its_place(runs: Runs) -> None:
    """An agent may have several turns before a check: each has a first call of the iteration."""
    asking = {"plugins": {"asks": {"about": "put"}}}
    person = Person()
    one = {"question": "?"}
    settings = {"agent": "talk", "input": one, "tools": ["put"], **asking}
    turns = [put("a.txt", "one\n"), put("a.txt", "two\n"), {"text": "done"}]
    record = await runs.run(turns, ask=person, **settings)
    assert record.status == "answered"
    assert len({question.id for question in person.asked}) == 2


async def killed_while_asked(runs: Runs, config: Any) -> None:
    """A run in a process of its own, which is killed while a person thinks."""
    async with (
        elsewhere(runs.store, config, interactive=True) as process,
        RunManager(runs.store, "inline") as manager,
    ):
        async with asyncio.timeout(60):
            while not (runs.store.folder(config.run_id) / "run.json").exists():
                await asyncio.sleep(0.02)
        run = await manager.get(config.run_id)
        await reached(run, "human_check_required")
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()


async def answer(run: Any, choice: str) -> Question:
    """Answer the next question of a run that goes on; the question."""
    async for event in run.events():
        if event.kind == "human_check_required":
            for question in await run.questions():
                if question.state == "open" and await run.answer(question.id, choice):
                    return question
    raise AssertionError("nothing was asked")


async def test_nobody_is_asked_where_nobody_answers(runs: Runs) -> None:
    asking = {"plugins": {"asks": {"about": "shell"}}}
    async with submitted(runs.store, runs.config([shell("ls")], max_iterations=1, **asking)) as run:
        record = await run.result()
    [result] = runs.tool_results(record)
    assert result == "refused: to be sure, and nobody can be asked here"
