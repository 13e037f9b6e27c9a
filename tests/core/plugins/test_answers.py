"""A plugin whose answer breaks its contract is named with its distribution, whatever it is."""

from __future__ import annotations

import asyncio
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from retrai_core import CheckReport, FilesStore, GoalBase, GoalResult, RetraiError
from retrai_core.config.model import RunConfig
from retrai_core.plugins.answers import checked_answers, problem
from retrai_core.plugins.error_attribution import WrongAnswerError
from retrai_core.storage.event_log import read_events

from ..running import work

START = """
from retrai_core import *

REPORT = CheckReport({"a": "failed"}, ["t"])
FAILS = GoalResult(False, "1 of 1 fails", report=REPORT)


class Plugin(BASE):
    name = "acme"
    summary = "of the tests"
"""
GOAL = """
    async def check(self, state, cwd):
        return FAILS
    def system_prompt(self):
        return ""
"""
TOOL = """
    description = "Look."
    needs = frozenset({"read"})
    async def run(self, args, context):
        return ToolResult("seen")
"""
MEMORY = """
    async def recall(self, goal, project):
        return []
    async def learn(self, outcome):
        pass
"""
LLM = """
    model_patterns = ("acme",)
    def create(self, model, temperature, context):
        from langchain_core.language_models import FakeListChatModel
        class Hello(FakeListChatModel):
            def bind_tools(self, tools, **settings):
                return self
        return Hello(responses=["hello"])
"""
KINDS = {
    "goals": ("GoalBase", GOAL),
    "tools": ("Tool", TOOL),
    "memory": ("MemoryStore", MEMORY),
    "llms": ("LLMProvider", LLM),
}


@pytest.fixture
def run(site: Any, tmp_path: Path) -> Any:
    """Run with a plugin of a kind, some of whose methods are these."""

    def install_and_run(group: str, method: str, **settings: Any) -> tuple[Any, str]:
        base, body = KINDS[group]
        kinds = {"goals": KINDS["goals"], "llms": KINDS["llms"]}
        kinds[group] = (base, body + indent(method, "    "))
        names: dict[str, str] = {}
        for number, (kind, (its_base, its_body)) in enumerate(kinds.items()):
            code = START.replace("BASE", its_base) + its_body
            dist = "acme" if kind == group else f"other{number}"
            code = code.replace('"acme"', f'"{dist}"') if dist != "acme" else code
            site.install(
                dist,
                entry_points=f"[retrai.{kind}]\n{dist} = {dist}.plugin:Plugin\n",
                code=code,
            )
            names[kind] = dist
        project = tmp_path / "project"
        project.mkdir()
        config = RunConfig(
            cwd=project,
            goal=names["goals"],
            **({"model": names["llms"], "memory": "none", "sandbox": "local"} | settings),
            max_iterations=1,
        )

        async def ended() -> tuple[Any, str]:
            store = FilesStore(state=tmp_path / "state")
            done = await work(store, config)
            log = read_events(store.folder(done.id) / "events.jsonl")
            return done, "\n".join(str(event.payload) for event in log)

        try:
            return asyncio.run(ended())
        except RetraiError as error:
            return None, str(error)

    return install_and_run


GOALS = {
    "a text": ('async def check(self, s, c): return "fine"', "check() returned 'fine', not a"),
    "nothing": ("async def check(self, s, c): return None", "check() returned None, not a"),
    "not async": ("def check(self, s, c): return FAILS", "check() returned a GoalResult and"),
    "achieved is a text": (
        'async def check(self, s, c): return GoalResult("yes", "x")',
        "a GoalResult whose achieved is 'yes', not a bool",
    ),
    "no reason": (
        "async def check(self, s, c): return GoalResult(False, None)",
        "a GoalResult whose reason is None, not a str",
    ),
    "a report that is a dict": (
        'async def check(self, s, c): return GoalResult(False, "x", report={"cases": {}})',
        "a GoalResult whose report is a dict, not a CheckReport",
    ),
    "an unknown outcome": (
        (
            'async def check(self, s, c):\n    return GoalResult(True, "x", '
            'report=CheckReport({"a": "green"}, ["t"]))'
        ),
        "whose report.cases['a'] is 'green', not 'passed', 'failed'",
    ),
    "a command that is a text": (
        (
            'async def check(self, s, c):\n    return GoalResult(True, "x", '
            'report=CheckReport({"a": "passed"}, "pytest -q"))'
        ),
        "whose report.command is 'pytest -q', not a list",
    ),
    "a number of excuses that is a text": (
        (
            'async def check(self, s, c):\n    return GoalResult(True, "x", '
            'report=CheckReport({"a": "passed"}, ["t"], excused={"a": "2"}))'
        ),
        "whose report.excused['a'] is '2', not an int",
    ),
    "protected": ('def protected(self, p): return "tests/**"', "protected() returned 'tests/**'"),
    "steering": ("def steering(self, p): return None", "steering() returned None, not a list"),
    "environment": ("async def environment(self, p): return []", "environment() returned a list"),
    "external state": (
        "async def external_state(self, p): return 3",
        "external_state() returned 3",
    ),
    "ready": ("async def ready(self): return False", "ready() returned False, not a str or None"),
    "system prompt": ("def system_prompt(self): return None", "system_prompt() returned None"),
    "exits": ("async def check(self, s, c): raise SystemExit(0)", "check() ends the program"),
}


@pytest.mark.parametrize(("method", "told"), GOALS.values(), ids=GOALS)
def test_a_goal_that_answers_wrongly_is_named(run: Any, method: str, told: str) -> None:
    record, text = run("goals", method)
    reason = text if record is None else record.reason
    assert record is None or record.status == "error"
    assert "the goal acme of acme 1.0 failed: " in reason
    assert told in reason


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ('async def recall(self, g, p): return ["try this"]', "recall() returned a list whose [0]"),
        ("async def recall(self, g, p): return 5", "recall() returned 5, not a list"),
    ],
)
def test_a_memory_that_answers_wrongly_is_named(run: Any, method: str, told: str) -> None:
    record, log = run("memory", method, memory="acme")
    assert record.status != "error"
    assert "the memory acme of acme 1.0 failed: " in log.replace("memory store", "memory")
    assert told in log


def test_a_provider_that_answers_wrongly_is_named(run: Any) -> None:
    _, text = run("llms", "def ready(self, model): return 7", model="acme")
    assert "the llm acme of acme 1.0 failed: it answered 7, not a str or None" in text


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ('ToolResult("x", ok="no")', "a ToolResult whose ok is 'no', not a bool"),
        ("ToolResult(7)", "a ToolResult whose content is 7, not a str"),
        ('ToolResult("x", data=[1])', "a ToolResult whose data is a list, not a mapping"),
        ('"text"', "run() returned 'text', not a ToolResult"),
    ],
)
def test_a_tool_that_answers_wrongly_is_named_in_its_result(
    site: Any, result: str, told: str
) -> None:
    from retrai_core.contracts.tool import ToolOptions
    from retrai_core.plugins.catalog import Catalog

    body = TOOL.replace('ToolResult("seen")', result)
    entry = "[retrai.tools]\nacme = acme.plugin:Plugin\n"
    site.install("acme", entry_points=entry, code=START.replace("BASE", "Tool") + body)
    catalog = Catalog.scan()
    record = catalog.find("tool", "acme")
    cls: Any = catalog.load(record)
    tool = checked_answers(cls(ToolOptions(), None), record)
    with pytest.raises(WrongAnswerError) as caught:
        asyncio.run(tool.run(None, None))
    assert str(caught.value).startswith("the tool acme of acme 1.0 failed: run() returned ")
    assert told in str(caught.value)


def test_what_serves_is_taken_as_it_is() -> None:
    """A set for a sequence, a method that yields, a subclass of an answer: nobody is hurt."""

    class Answer(GoalResult):
        pass

    class Fine(GoalBase):
        name = "fine"

        async def check(self, state: Any, cwd: Path) -> GoalResult:
            return Answer(True, "fine", report=CheckReport({"a": "passed"}, ("t",)))

        def system_prompt(self) -> str:
            return ""

        def protected(self, project: Path) -> Any:
            yield "tests/**"

        def steering(self, project: Path) -> Any:
            return {"conftest.py"}

    goal = checked_answers(checked_answers(Fine(None, None)))  # type: ignore[arg-type]  # no run
    assert asyncio.run(goal.check({}, Path())).achieved
    assert list(goal.protected(Path())) == ["tests/**"]
    assert set(goal.steering(Path())) == {"conftest.py"}


def test_a_large_report_is_looked_through() -> None:
    cases: Any = {f"test_{number}": "passed" for number in range(20_000)}
    result = GoalResult(True, "fine", report=CheckReport(cases, ["t"]))
    assert problem(result, GoalResult) == ""
    cases["test_19999"] = "green"
    assert "report.cases['test_19999'] is 'green'" in problem(result, GoalResult)
