"""Checkpoints keep a graph's state, stay small, and never run what a forged file names."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypedDict

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.graph import START, StateGraph

from retrai_core.agents.goal_loop.state import AgentState, append_messages
from retrai_core.storage.checkpoints import open_checkpoints

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "r1"}}

# The kinds of extension that LangGraph's serializer writes; the numbers are its file format.
ONE_ARGUMENT, ARGUMENTS, KEYWORDS, METHOD, PYDANTIC_1, PYDANTIC_2 = range(6)


class Count(TypedDict):
    """A state of one number and some notes."""

    number: int
    notes: Annotated[list[str], lambda old, new: [*old, *new]]


def graph(saver: Any) -> Any:
    """A graph that adds one."""
    built: Any = StateGraph(Count)
    built.add_node("add", lambda state: {"number": state["number"] + 1, "notes": ["added"]})
    built.add_edge(START, "add")
    return built.compile(checkpointer=saver)


async def test_a_later_process_finds_the_state(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.sqlite"
    async with open_checkpoints(path) as saver:
        await graph(saver).ainvoke({"number": 1, "notes": []}, CONFIG)
    async with open_checkpoints(path) as saver:
        state = await graph(saver).aget_state(CONFIG)
        assert state.values == {"number": 2, "notes": ["added"]}
        await graph(saver).ainvoke({"number": 5}, CONFIG)
        assert (await graph(saver).aget_state(CONFIG)).values["number"] == 6


async def test_messages_come_back_as_they_were(tmp_path: Path) -> None:
    messages: Sequence[AnyMessage] = [
        HumanMessage("the goal", id="goal"),
        AIMessage(
            "",
            tool_calls=[{"id": "1", "name": "look", "args": {"path": "ä"}}],
            usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        ),
        ToolMessage("seen", tool_call_id="1", name="look", status="error"),
    ]
    built: Any = StateGraph(AgentState)
    built.add_node("say", lambda state: {"messages": list(messages), "iteration": 1})
    built.add_edge(START, "say")
    path = tmp_path / "checkpoint.sqlite"
    async with open_checkpoints(path) as saver:
        await built.compile(checkpointer=saver).ainvoke({"iteration": 0}, CONFIG)
    async with open_checkpoints(path) as saver:
        state = await built.compile(checkpointer=saver).aget_state(CONFIG)
    assert state.values["messages"] == messages


def test_messages_written_one_by_one_or_at_once_make_the_same_list() -> None:
    first, second = HumanMessage("one", id="1"), HumanMessage("two", id="2")
    changed = HumanMessage("one, changed", id="1")
    at_once = append_messages([], [[first, second], changed])
    one_by_one = append_messages(append_messages(append_messages([], [first]), [second]), [changed])
    assert at_once == one_by_one == [changed, second]


async def test_a_step_costs_what_it_adds_and_not_the_whole_conversation(tmp_path: Path) -> None:
    text = os.urandom(4000).hex()

    async def size_after(steps: int) -> int:
        built: Any = StateGraph(AgentState)
        built.add_node(
            "say",
            lambda state: {
                "messages": [HumanMessage(text)],
                "iteration": state["iteration"] + 1,
            },
        )
        built.add_edge(START, "say")
        built.add_conditional_edges(
            "say", lambda state: "say" if state["iteration"] < steps else "__end__"
        )
        path = tmp_path / f"{steps}.sqlite"
        config = {**CONFIG, "recursion_limit": steps + 10}
        async with open_checkpoints(path) as saver:
            await built.compile(checkpointer=saver).ainvoke(
                {"iteration": 0}, config, durability="sync"
            )
        return path.stat().st_size

    assert await size_after(80) < 3 * 80 * len(text)


# What follows is a checkpoint file that somebody else has written.


def extension(kind: int, *content: object) -> ormsgpack.Ext:
    return ormsgpack.Ext(kind, ormsgpack.packb(content))


def forgeries(marker: str) -> dict[str, object]:
    """Values that, believed, make the file `marker`."""
    command = f"touch {marker}"
    return {
        "a callable with one argument": extension(ONE_ARGUMENT, "os", "system", command),
        "a callable with arguments": extension(ARGUMENTS, "os", "system", [command]),
        "a callable with keywords": extension(KEYWORDS, "os", "system", {"command": command}),
        "a class that starts a process": extension(
            ARGUMENTS, "subprocess", "Popen", [["touch", marker]]
        ),
        "a method": extension(METHOD, "pathlib", "Path", marker, "touch"),
        "a method of a safe type": extension(METHOD, "uuid", "UUID", marker, "touch"),
        "a first-generation model": extension(PYDANTIC_1, "os", "system", {"command": command}),
        "a model": extension(PYDANTIC_2, "os", "system", {"command": command}, "__call__"),
        "a file that is opened for writing": extension(ARGUMENTS, "io", "open", [marker, "w"]),
        "a module whose import does something": extension(ONE_ARGUMENT, "evil_module", "X", 1),
    }


NAMES = sorted(forgeries(""))


async def stored(path: Path) -> None:
    """An honest checkpoint file."""
    async with open_checkpoints(path) as saver:
        await graph(saver).ainvoke({"number": 1, "notes": []}, CONFIG)


async def load_everything(path: Path) -> None:
    """Read the file in every way in which a resumed run reads it."""
    async with open_checkpoints(path) as saver:
        async for found in saver.alist(CONFIG):
            assert found.checkpoint is not None
        state = await graph(saver).aget_state(CONFIG)
        await graph(saver).ainvoke({"number": 1}, CONFIG)
        assert state.values is not None


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that code from a forged checkpoint would make; a module's import makes it too."""
    path = tmp_path / "code-was-run"
    (tmp_path / "evil").mkdir()
    source = f"open({str(path)!r}, 'w').close()\nX = int\n"
    (tmp_path / "evil" / "evil_module.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path / "evil"))
    return path


@pytest.mark.parametrize("name", NAMES)
async def test_a_forged_value_in_a_checkpoint_runs_nothing(
    tmp_path: Path, marker: Path, name: str
) -> None:
    path = tmp_path / "checkpoint.sqlite"
    await stored(path)
    with sqlite3.connect(path) as file:
        [(row, blob)] = file.execute(
            "select rowid, checkpoint from checkpoints order by checkpoint_id desc limit 1"
        )
        checkpoint = ormsgpack.unpackb(blob)
        checkpoint["channel_values"]["notes"] = [forgeries(str(marker))[name]]
        forged = ormsgpack.packb(checkpoint)
        file.execute("update checkpoints set checkpoint = ? where rowid = ?", (forged, row))
    file.close()
    await load_everything(path)
    assert not marker.exists()


@pytest.mark.parametrize("name", NAMES)
async def test_a_forged_write_runs_nothing(tmp_path: Path, marker: Path, name: str) -> None:
    path = tmp_path / "checkpoint.sqlite"
    await stored(path)
    with sqlite3.connect(path) as file:
        forged = ormsgpack.packb([forgeries(str(marker))[name]])
        changed = file.execute("update writes set value = ? where channel = 'notes'", (forged,))
        assert changed.rowcount
    file.close()
    await load_everything(path)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("pickle", "cos\nsystem\n(S'touch {marker}'\ntR."),
        (
            "json",
            json.dumps(
                {
                    "lc": 2,
                    "type": "constructor",
                    "id": ["os", "system"],
                    "args": ["touch {marker}"],
                }
            ),
        ),
        (
            "json",
            json.dumps(
                {
                    "lc": 1,
                    "type": "constructor",
                    "id": ["os", "system"],
                    "kwargs": {"command": "touch {marker}"},
                }
            ),
        ),
    ],
    ids=["pickle", "json of LangGraph", "json of LangChain"],
)
async def test_a_write_of_another_kind_runs_nothing(
    tmp_path: Path, marker: Path, kind: str, payload: str
) -> None:
    path = tmp_path / "checkpoint.sqlite"
    await stored(path)
    with sqlite3.connect(path) as file:
        forged = payload.replace("{marker}", str(marker)).encode()
        file.execute("update writes set type = ?, value = ?", (kind, forged))
    file.close()
    with suppress(NotImplementedError, ValueError):  # refused is as good as passed over
        await load_everything(path)
    assert not marker.exists()


async def test_the_forgeries_would_run_where_the_serializer_is_not_strict(
    tmp_path: Path, marker: Path
) -> None:
    """Else the tests above could not fail."""
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    permissive = JsonPlusSerializer(allowed_msgpack_modules=True)
    value = forgeries(str(marker))["a callable with one argument"]
    permissive.loads_typed(("msgpack", ormsgpack.packb([value])))
    assert marker.exists()


async def test_what_is_written_now_comes_after_what_a_clock_that_ran_ahead_left(
    tmp_path: Path,
) -> None:
    path = tmp_path / "checkpoint.sqlite"
    async with open_checkpoints(path) as saver:
        await graph(saver).ainvoke({"number": 1, "notes": []}, CONFIG)
    with sqlite3.connect(path) as file:
        file.execute(
            "update checkpoints set checkpoint_id = 'f' || checkpoint_id, "
            "parent_checkpoint_id = 'f' || parent_checkpoint_id"
        )
        file.execute("update writes set checkpoint_id = 'f' || checkpoint_id")
    file.close()
    async with open_checkpoints(path) as saver:
        assert (await graph(saver).aget_state(CONFIG)).values["number"] == 2
        await graph(saver).ainvoke({"number": 5}, CONFIG)
        assert (await graph(saver).aget_state(CONFIG)).values["number"] == 6


async def test_another_namespace_has_its_own_latest_checkpoint(tmp_path: Path) -> None:
    """A graph in a graph keeps its checkpoints under the same run."""
    inner = graph(None)
    outer: Any = StateGraph(Count)
    outer.add_node("inner", inner)
    outer.add_edge(START, "inner")
    async with open_checkpoints(tmp_path / "checkpoint.sqlite") as saver:
        built = outer.compile(checkpointer=saver)
        await built.ainvoke({"number": 1, "notes": []}, CONFIG, durability="sync")
        await built.ainvoke({"number": 5, "notes": []}, CONFIG, durability="sync")
        assert (await built.aget_state(CONFIG)).values["number"] == 6
        spaces = {
            each.config["configurable"]["checkpoint_ns"] async for each in saver.alist(CONFIG)
        }
        assert len(spaces) >= 2
        for space in spaces:
            place = {"configurable": {"thread_id": "r1", "checkpoint_ns": space}}
            listed = [each async for each in saver.alist(place)]
            found = await saver.aget_tuple(place)
            assert found is not None
            assert found.checkpoint["id"] == listed[0].checkpoint["id"]
