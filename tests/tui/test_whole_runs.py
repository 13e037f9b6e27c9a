"""Runs that are started, answered, aborted, resumed and taken back on the screen."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from textual.widgets import Input, OptionList, Select

from retrai_core import AgentEvent, RunManager, RunRecord
from retrai_testkit import RetraiProject, ScriptedModel, Turn, call
from retrai_tui.app import RetraiApp
from retrai_tui.run_screen import RunScreen

from .conftest import Opened
from .seen import detail, screen_text, state, timeline, until

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart"


def script(project: RetraiProject, *turns: Turn, **settings: Any) -> None:
    """Settings of a run that wants `right` in a.txt."""
    model = ScriptedModel().play(*turns).settings
    wanted = {"goal": "expected-files", "options": {"files": {"a.txt": "right"}}}
    project.configure(**model, **wanted, **settings)
    project.write({"a.txt": "wrong"})


def put(text: str) -> Turn:
    """A turn that writes a.txt."""
    return call("put_file", path="a.txt", text=text)


async def only_run() -> RunRecord:
    """The only run that there is."""
    async with RunManager() as manager:
        (record,) = await manager.list()
    assert isinstance(record, RunRecord)
    return record


async def test_a_run_is_started_from_the_form_and_watched_to_achieved(
    opened: Opened, tmp_path: Path
) -> None:
    shop = tmp_path / "shop"
    shutil.copytree(QUICKSTART, shop)
    async with opened(shop) as pilot:
        await until(pilot, "pytest: found by", "models:")
        await pilot.press("ctrl+s")
        await until(pilot, "pytest with offline")
        shown = await until(pilot, "achieved")
        assert "43 passed" in shown
        lines = timeline(pilot)
        assert any("file_patch" in line and "shop/money.py" in line for line in lines)
        await pilot.press("d")
        await until(pilot, "diff --git a/shop/money.py")
        await pilot.press("f")
        await until(pilot, "checks so far: start: 10 failed, 33 passed")
        await pilot.press("i")
        await until(pilot, "about the run", "changed   shop/money.py")


async def test_an_agent_without_a_goal_is_asked_and_its_answer_is_shown(
    opened: Opened, tmp_path: Path
) -> None:
    pytest.importorskip("retrai_research")
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "basket.py").write_text('def tax(price):\n    """Of a basket."""\n    return 1\n')
    async with opened(shop) as pilot:
        await until(pilot, "models:", "Agent")
        form = pilot.app.screen
        cast("Select[str]", form.query_one("#agent")).value = "research"
        form.query_one("#task", Input).value = "Where is the tax of a basket?"
        form.query_one("#other_model", Input).value = "extractive"
        await pilot.press("ctrl+s")
        await until(pilot, "about the run", "basket.py:1-3", "answered")
        lines = timeline(pilot)
        assert any("planner" in line for line in lines)
        await pilot.press("i")
    record = await only_run()
    assert (record.agent, record.goals) == ("research", [])


async def test_an_empty_folder_offers_the_demo_project(opened: Opened, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    async with opened(empty) as pilot:
        await until(pilot, "no sign of a goal", "models:")
        pilot.app.screen.query_one("#demo").focus()
        await pilot.press("enter")
        await until(pilot, "pytest with offline", "a Abort")
        await pilot.press("a")
        await until(pilot, "End this run?")
        await pilot.press("enter")
        await until(pilot, "aborted")
    assert (empty / "retrai-demo" / "shop" / "money.py").exists()


async def test_the_form_shows_what_was_found_and_keeps_it_in_a_file(
    opened: Opened, retrai_project: RetraiProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-not-a-real-one")
    retrai_project.write({"a.txt": "wrong", "conftest.py": ""})
    async with opened() as pilot:
        await until(pilot, "pytest: found by conftest.py", "ANTHROPIC_API_KEY is set")
        assert "sk-ant" not in screen_text(pilot)
        form = cast("Any", pilot.app.screen)
        form.query_one("#goal").value = "expected-files"
        form.query_one("#options").value = """'files={"a.txt": "wrong"}'"""
        form.query_one("#other_model").value = "offline"
        form.query_one("#iterations").value = "7"
        form.query_one("#keep").value = True
        await pilot.press("ctrl+s")
        await until(pilot, "expected-files with offline", "achieved")
    kept = retrai_project.read(".retrai.yml").splitlines()[1:]
    assert kept == [
        'goal: "expected-files"',
        'options: {"files": {"a.txt": "wrong"}}',
        'model: "offline"',
        "max_iterations: 7",
        "hitl_enabled: false",
    ]
    assert (await only_run()).limits.max_iterations == 7


async def test_what_needs_consent_is_shown_before_anything_is_started(
    opened: Opened, retrai_project: RetraiProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RETRAI_TRUST")
    retrai_project.configure(goal="shell-goal", check_command="touch ran; false", model="offline")
    async with opened(goal="shell-goal") as pilot:
        await until(pilot, "models:")
        await pilot.press("ctrl+s")
        await until(pilot, "needs your consent", "touch ran; false", "Do not start")
        await pilot.press("enter")
        await until(pilot, "new run in")
        assert not (retrai_project.folder / "ran").exists()
        await pilot.press("ctrl+s")
        await until(pilot, "needs your consent")
        await pilot.press("down", "enter")
        await until(pilot, "shell-goal with offline", "gave up")


async def test_questions_are_answered_and_the_run_goes_on_to_its_end(
    opened: Opened, retrai_project: RetraiProject
) -> None:
    script(retrai_project, put("first try"), put("right"), hitl_enabled=True)
    async with opened(goal="expected-files") as pilot:
        await until(pilot, "models:")
        await pilot.press("ctrl+s")
        await until(pilot, "w answers", "waiting")
        assert state(pilot).count("waiting") == 1
        await pilot.press("w")
        await until(pilot, "your answer", "Approve", "End the run", "first try")
        await pilot.press("enter")
        await until(pilot, "achieved")
        assert [line.split()[1:] for line in timeline(pilot) if "answer" in line] == [
            ["answer", "approve"]
        ]


async def test_the_list_has_its_cursor_on_the_run_that_was_started_last(
    opened: Opened, retrai_project: RetraiProject
) -> None:
    script(retrai_project, put("right"))
    async with opened(goal="expected-files") as pilot:
        for then in ("n", "escape"):
            await until(pilot, "models:")
            await pilot.press("ctrl+s")
            await until(pilot, "expected-files with", "achieved")
            run_id = cast("RunScreen", pilot.app.screen).run_id
            await pilot.press("escape")
            await until(pilot, "runs of", run_id)
            await pilot.press(then)


async def test_a_question_is_answered_with_abort(
    opened: Opened, retrai_project: RetraiProject
) -> None:
    script(retrai_project, put("first try"), put("right"), hitl_enabled=True)
    async with opened(goal="expected-files") as pilot:
        await until(pilot, "models:")
        await pilot.press("ctrl+s")
        await until(pilot, "w answers")
        await pilot.press("w")
        await until(pilot, "End the run")
        await pilot.press("end", "enter")
        await until(pilot, "aborted")
    assert (await only_run()).status == "aborted"


async def test_a_run_of_another_process_is_followed_resumed_and_taken_back(
    opened: Opened, retrai_project: RetraiProject
) -> None:
    script(retrai_project, put("first try"), put("right"), max_iterations=1, hitl_enabled=True)
    engine = "import asyncio, sys\nfrom retrai_core import RunManager\n"
    engine += "async def work():\n async with RunManager(engine='inline') as manager:\n"
    engine += "  run = await manager.submit(await manager.prepare('.', hitl_enabled=False))\n"
    engine += "  print(run.id, flush=True)\n  await run.result()\nasyncio.run(work())\n"
    other = subprocess.Popen(  # noqa: ASYNC220 - it runs beside
        [sys.executable, "-c", engine],
        cwd=retrai_project.folder,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    with other:
        assert other.stdout is not None
        run_id = (await asyncio.to_thread(other.stdout.readline)).strip()
        async with opened(run=run_id) as pilot:
            await until(pilot, "failed", "iteration 1/1", "r Resume")
            assert any("put_file" in line for line in timeline(pilot))
            await pilot.press("r")
            await until(pilot, "Resume with these limits")
            pilot.app.screen.query_one("#max_iterations").focus()
            await pilot.press("end", "backspace", "5", "enter")
            await until(pilot, "achieved", "iteration 2/5")
            assert retrai_project.read("a.txt").strip() == "right"
            await pilot.press("u")
            await until(pilot, "What undoing this run changes", "restored  a.txt")
            await pilot.press("enter")  # leaves all as it is
            assert retrai_project.read("a.txt").strip() == "right"
            await pilot.press("u")
            await until(pilot, "What undoing this run changes", "Undo this")
            await pilot.press("down", "enter")
            await until(pilot, "undone: a.txt")
            assert retrai_project.read("a.txt") == "wrong"


async def test_a_run_that_was_started_here_goes_on_when_the_screen_is_gone(
    opened: Opened, retrai_project: RetraiProject
) -> None:
    script(retrai_project, put("first try"), put("right"), hitl_enabled=True)
    async with opened(goal="expected-files") as pilot:
        await until(pilot, "models:")
        await pilot.press("ctrl+s")
        await until(pilot, "w answers")
        app = cast("RetraiApp", pilot.app)
        run_id = app.screen.run_id  # pyright: ignore[reportAttributeAccessIssue]
        await pilot.press("q")
        (line,) = await app.left_behind()
        assert f"`retrai tui {run_id}`" in line
    assert (await only_run()).status == "waiting"
    async with opened(run=run_id) as pilot:  # in another life
        await until(pilot, "w answers")
        await pilot.press("w")
        await until(pilot, "Approve")
        await pilot.press("enter")
        await until(pilot, "achieved")


async def test_what_others_wrote_is_text_without_markup_and_escapes(
    opened: Opened, retrai_project: RetraiProject
) -> None:
    bad = "[bold red]x[/] \x1b[2J\u202e [@click=app.quit]y[/]"
    unknown = call("[/red]\x1bnothing")
    script(retrai_project, unknown, call("put_file", path="[b]a\x1b.txt", text=bad), put("right"))
    async with opened(goal="expected-files") as pilot:
        await until(pilot, "models:")
        await pilot.press("ctrl+s")
        await until(pilot, "achieved")
        index = next(i for i, line in enumerate(timeline(pilot)) if "[b]a\\u001b.txt" in line)
        pilot.app.screen.query_one("#timeline", OptionList).highlighted = index
        await until(pilot, "[bold red]x[/] \\u001b[2J\\u202e [@click=app.quit]y[/]")
        assert "\x1b" not in screen_text(pilot)
        assert "\u202e" not in detail(pilot)
        index = next(i for i, line in enumerate(timeline(pilot)) if line.startswith("  1 [/red]"))
        pilot.app.screen.query_one("#timeline", OptionList).highlighted = index
        await until(pilot, "step: [/red]")
        await pilot.press("d")
        await until(pilot, "diff --git")
        assert "\x1b" not in detail(pilot)
        assert "achieved" in state(pilot)


async def test_a_run_that_cannot_begin_says_why(
    opened: Opened, retrai_project: RetraiProject
) -> None:
    script(retrai_project, put("right"))
    async with opened(goal="no-such-goal") as pilot:
        await until(pilot, "models:")
        form = cast("Any", pilot.app.screen)
        form.query_one("#other_model").value = "no-such-model"
        await pilot.press("ctrl+s")
        await until(pilot, "no-such-model")
        await pilot.press("escape")
        await until(pilot, "no run yet: n starts one")


@pytest.mark.parametrize("key", ["escape", "q"])
async def test_a_screen_can_be_left_while_its_run_is_busy(
    opened: Opened, retrai_project: RetraiProject, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    script(retrai_project, put("right"))

    async def without_end(*_: object) -> AsyncIterator[AgentEvent]:
        while True:
            await asyncio.sleep(0.001)
            yield logged[-1]

    async with opened(goal="expected-files") as pilot:
        await until(pilot, "models:")
        await pilot.press("ctrl+s")
        await until(pilot, "achieved")
        run = await cast("RetraiApp", pilot.app).manager.get((await only_run()).id)
        logged = await run.logged()
        monkeypatch.setattr(type(run), "events", without_end)
        await pilot.press("escape")
        await until(pilot, "n New run")
        await pilot.press("enter")
        await until(pilot, "iteration 1")
        await pilot.press(key)
