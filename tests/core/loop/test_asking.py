"""A question that is asked ahead is the one that plan asks, is asked once, and outlives nothing."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableLambda

from retrai_core import AgentState
from retrai_core.loop.asking import Asking
from retrai_core.loop.budget import Budget
from retrai_core.loop.spending import Spending
from retrai_core.loop.step_starts import StepStarts

Runs = Any


class Server:
    """Answers with the last word it is asked, when it is let; remembers what came of each call."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[str] = asyncio.Queue()
        self.given_up: list[str] = []
        self.may_answer = asyncio.Event()
        self.calls: list[Any] = []

    async def answer(self, messages: list[BaseMessage]) -> AIMessage:
        word = messages[-1].text
        self.asked.put_nowait(word)
        try:
            await self.may_answer.wait()
        except asyncio.CancelledError:
            self.given_up.append(word)
            raise
        if word == "break":
            raise ConnectionError("gone")
        messages[0].additional_kwargs["cache_control"] = messages[-1].additional_kwargs["mark"] = 1
        return AIMessage(word, tool_calls=self.calls)


class Context:
    """As much of a run as asking needs, where no limit is set."""

    def __init__(self) -> None:
        self.tools: dict[str, Any] = {}
        self.told: list[str] = []
        self.iteration = 0

    def publish(self, kind: str, **payload: Any) -> None:
        self.told.append(kind)

    def redact(self, text: str) -> str:
        return text

    def wants_deltas(self) -> bool:
        return False


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
async def asking(server: Server) -> Asking:
    model = RunnableLambda(server.answer)
    context = cast("Any", Context())
    steps = StepStarts(context)
    return Asking(context, cast("Any", model), "be brief", Spending(Budget()), steps)


def saying(word: str, *tried: str) -> AgentState:
    state = {"messages": [HumanMessage(word, id=word)], "failed_strategies": list(tried)}
    used = dict.fromkeys(["input_tokens", "output_tokens", "total_tokens"], 0)
    return cast("AgentState", state | used | {"estimated_cost_usd": 0.0, "model_name": "m"})


async def test_a_question_asked_ahead_is_asked_once_and_before_anybody_waits(
    asking: Asking, server: Server
) -> None:
    asking.begin(saying("hello"))
    assert await server.asked.get() == "hello"
    server.may_answer.set()
    answer = await asking.answer(saying("hello"))
    assert cast("AIMessage", answer.message).text == "hello"
    assert server.asked.empty()


@pytest.mark.parametrize("now", [saying("other"), saying("hello", "what was tried")])
async def test_another_question_takes_the_place_of_the_one_asked_ahead(
    asking: Asking, server: Server, now: AgentState
) -> None:
    asking.begin(saying("hello"))
    assert await server.asked.get() == "hello"
    waiting = asyncio.create_task(asking.answer(now))
    asked = await server.asked.get()
    assert server.given_up == ["hello"]
    server.may_answer.set()
    assert cast("AIMessage", (await waiting).message).text == asked


async def test_what_fails_ahead_is_told_to_whoever_asks(asking: Asking, server: Server) -> None:
    server.may_answer.set()
    asking.begin(saying("break"))
    answer = await asking.answer(saying("break"))
    assert isinstance(answer.error, ConnectionError)


async def test_a_question_that_nobody_waits_for_is_given_up(asking: Asking, server: Server) -> None:
    asking.begin(saying("hello"))
    assert await server.asked.get() == "hello"
    await asking.drop()
    assert server.given_up == ["hello"]
    assert not await asking.drop()


async def test_who_stops_waiting_gives_the_question_up(asking: Asking, server: Server) -> None:
    asking.begin(saying("hello"))
    waiting = asyncio.create_task(asking.answer(saying("hello")))
    assert await server.asked.get() == "hello"
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert server.given_up == ["hello"]


async def test_a_model_that_marks_its_messages_is_asked_once(
    asking: Asking, server: Server
) -> None:
    server.may_answer.set()
    asking.begin(saying("hello", "what was tried"))
    word = await server.asked.get()
    await asyncio.wait({cast("Any", asking)._ahead.answer})
    assert cast("AIMessage", (await asking.answer(saying("hello", "what was tried"))).message).text
    assert word.startswith("hello")
    assert server.asked.empty()


async def test_what_an_answer_used_is_told_although_nobody_waits_for_it(
    asking: Asking, server: Server
) -> None:
    server.may_answer.set()
    asking.begin(saying("hello"))
    await asyncio.wait({cast("Any", asking)._ahead.answer})
    assert await asking.drop()
    assert cast("Any", asking.context).told == ["step_start", "llm_usage"]


async def test_what_went_wrong_unheard_is_told_and_stops_nothing(
    asking: Asking, server: Server
) -> None:
    cast("Any", asking.context).tools = None  # as a defect of retrai's own would be
    server.may_answer.set()
    server.calls = [{"id": "1", "name": "look", "args": {}}]
    asking.begin(saying("hello"))
    await asyncio.wait({cast("Any", asking)._ahead.answer})
    assert not await asking.drop()
    assert cast("Any", asking.context).told == ["log"]


async def test_a_run_asks_its_model_once_a_turn(runs: Runs) -> None:
    look = {"name": "look", "args": {"path": "b.txt"}}
    mend = {"name": "put", "args": {"path": "a.txt", "text": "right\n"}}
    record = await runs.run([*({"calls": [call]} for call in (look, look, look, mend))])
    assert record.status == "achieved"
    assert record.iterations == 4
    assert len(runs.seen(record)) == len(runs.events(record, "llm_usage")) == 4
