"""A judge at the wire, and goals in projects of their own."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("retrai_goals_ai")

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from retrai_core import LLMProvider, ModelError, ProcessOptions, RunContext
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_sandbox_local.sandbox import LocalSandbox
from retrai_testkit import RetraiProject, Turn, call, say

JUDGE = "a-judge"
Answers = Callable[[str], Turn]


class Judge(LLMProvider):
    """A provider whose one model answers each request by what stands in its last question."""

    name = "judges"
    model_patterns = (JUDGE,)

    def __init__(self) -> None:
        self.answers: Answers = lambda question: score(5)
        self.requests: list[list[BaseMessage]] = []

    def create(
        self, model: str, temperature: float, context: RunContext, api_key: str | None = None
    ) -> BaseChatModel:
        return JudgeModel(judge=self)

    @property
    def questions(self) -> list[str]:
        return [str(request[1].content) for request in self.requests]


class JudgeModel(BaseChatModel):
    judge: Any

    @property
    def _llm_type(self) -> str:
        return "judge"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.judge.requests.append(messages)
        turn: Turn = self.judge.answers(str(messages[-1].content))
        if turn.error:
            raise ModelError(turn.error)
        calls = [
            {"id": f"c{n}", "name": c.name, "args": dict(c.args), "type": "tool_call"}
            for n, c in enumerate(turn.calls)
        ]
        answer = AIMessage(turn.text, tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=answer)])


def score(number: float, **more: Any) -> Turn:
    """A judgement as a model gives it."""
    given = {"weaknesses": ["too few spoons"], "manipulation": "", "reason": "As it is."}
    return call("give_judgement", **{**given, "score": number, **more})


def text_of(question: str) -> str:
    """The text in a question to the judge."""
    after = question.rpartition("The text to be judged:\n")[2]
    mark, _, rest = after.partition("\n")
    assert rest.endswith(mark)
    return rest.removesuffix(f"\n{mark}")


@pytest.fixture
def judge() -> Judge:
    return Judge()


@pytest.fixture
def goals(tmp_path: Path, judge: Judge) -> Any:
    """Opens a goal in a project; `goal.context.project` is where its files are."""
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)

    @asynccontextmanager
    async def opened(cls: Any, **options: Any) -> AsyncIterator[Any]:
        context = RunContext(
            "r1",
            project,
            SafeWorkspace(project),
            os.environ["TESTS_PROJECT_PYTHON"],
            tmp_path / "run",
            model_name=JUDGE,
        )
        context.sandbox_part = LocalSandbox(ProcessOptions(), context)
        context.provider_part = judge
        try:
            yield cls(cls.Options(**options), context)
        finally:
            await context.sandbox.aclose()

    return opened


@pytest.fixture
def retrai_project(retrai_project_here: RetraiProject) -> RetraiProject:
    return retrai_project_here


def recorded(path: Path, *calls: tuple[str, Mapping[str, Any]]) -> str:
    """The name of a model that makes these tool calls, one a turn."""
    lines: list[str] = []
    for number, (name, args) in enumerate(calls):
        payload = {
            "text": f"step {number}",
            "tool_calls": [{"id": f"c{number}", "name": name, "args": dict(args)}],
        }
        event = {"kind": "llm_usage", "run_id": "r", "iteration": number, "ts": 0.0}
        lines.append(json.dumps({**event, "payload": payload}))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return f"replay:{path}"


__all__ = ["JUDGE", "Judge", "call", "recorded", "say", "score", "text_of"]
