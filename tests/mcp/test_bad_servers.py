"""Servers that hang, flood, die, print garbage, or are not there: said, and survived."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from retrai_core import ToolError, UsageError

from .conftest import Offering, bad, gone

HOLDS_A_SERVER = """
import asyncio, json, sys
from pathlib import Path
from retrai_core import McpServer, RunContext
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_mcp.hook import McpServers

here = Path(sys.argv[1])
entry = McpServer.model_validate(json.loads(sys.argv[2]))
context = RunContext("r", here, SafeWorkspace(here), sys.executable, here, mcp={"s": entry})

async def main():
    tools = {tool.name: tool for tool in await McpServers().tools(context)}
    answer = await tools["s.pid"].run(tools["s.pid"].Args(), context)
    print(answer.content, flush=True)
    await asyncio.sleep(1000)

asyncio.run(main())
"""


async def test_a_server_that_does_not_answer_is_done_without(offering: Offering) -> None:
    async with offering({"slow": bad("silent", start_timeout_s=1), "good": bad("greets")}) as offer:
        assert {name.split(".")[0] for name in offer.tools} == {"good"}
        assert "the MCP server slow is done without: it did not answer within 1 s" in offer.said


@pytest.mark.parametrize("how", ["floods-at-start", "endless-line"])
async def test_a_server_that_floods_its_output_is_ended(offering: Offering, how: str) -> None:
    async with offering({"loud": bad(how)}) as offer:
        assert offer.tools == {}
        assert any("is done without: it printed" in line for line in offer.said), offer.said


async def test_a_flood_during_a_call_is_an_error_of_that_call(offering: Offering) -> None:
    async with offering({"loud": bad("good")}) as offer:
        with pytest.raises(ToolError, match=r"died during this call.*it printed \d+ bytes"):
            await offer.call("loud.flood")
        assert (await offer.call("loud.echo", text="again")).content == "again"


async def test_what_a_server_prints_beside_the_protocol_is_passed_over(offering: Offering) -> None:
    async with offering({"chatty": bad("greets")}) as offer:
        assert (await offer.call("chatty.echo", text="hello")).content == "hello"


async def test_a_program_that_is_not_there_is_said_by_name(offering: Offering) -> None:
    async with offering({"none": {"command": "no-such-mcp-server --flag"}}) as offer:
        assert offer.tools == {}
        assert "the program no-such-mcp-server is not installed, or not on PATH" in offer.said[0]


async def test_a_program_that_ends_at_once_is_quoted(offering: Offering) -> None:
    entry = {"command": ["sh", "-c", "echo 'no licence found' >&2; exit 3"]}
    async with offering({"short": entry}) as offer:
        assert "it ended (exit code 3): no licence found" in offer.said[0]


async def test_an_address_where_nobody_listens_is_said(offering: Offering) -> None:
    async with offering({"far": {"url": "http://127.0.0.1:1/mcp"}}) as offer:
        assert offer.said[0].startswith(
            "the MCP server far is done without: it cannot be spoken to"
        )


async def test_a_server_that_dies_is_started_again_once_and_then_gone(offering: Offering) -> None:
    async with offering({"frail": bad("good")}) as offer:
        first = (await offer.call("frail.pid")).content
        with pytest.raises(ToolError, match=r"died during this call.*started again at the next"):
            await offer.call("frail.die")
        second = (await offer.call("frail.pid")).content
        assert second != first
        with pytest.raises(ToolError, match=r"it is gone\. it ended \(exit code 9\): I am done"):
            await offer.call("frail.die")
        with pytest.raises(ToolError, match="the MCP server frail is gone"):
            await offer.call("frail.echo", text="anyone?")
        assert any("has died" in line and "started again" in line for line in offer.said)


async def test_a_server_that_was_killed_meanwhile_is_started_again(offering: Offering) -> None:
    async with offering({"frail": bad("good")}) as offer:
        pid = int((await offer.call("frail.pid")).content)
        os.kill(pid, signal.SIGKILL)
        assert await gone(pid)
        answers: list[str] = []
        while not answers:  # the death may be noticed by this call or before it
            try:
                answers.append((await offer.call("frail.echo", text="back")).content)
            except ToolError as error:
                assert "died during this call" in error.message  # noqa: PT017 - a loop, not a claim
        assert answers == ["back"]


async def test_a_call_that_takes_too_long_is_ended_and_the_server_stays(offering: Offering) -> None:
    async with offering({"slow": bad("good", timeout_s=0.5)}) as offer:
        with pytest.raises(ToolError, match=r"slow: it did not answer within 0\.5 s"):
            await offer.call("slow.hang")


async def test_tools_that_no_model_could_use_are_left_out(offering: Offering) -> None:
    async with offering({"odd": bad("odd-tools")}) as offer:
        assert "odd.huge" not in offer.tools
        assert not any("two words" in name for name in offer.tools)
        assert len(offer.tools["odd.wordy"].description) <= 4000
        assert sum("is left out" in line for line in offer.said) == 2


async def test_only_the_tools_that_the_user_names_are_offered(offering: Offering) -> None:
    async with offering({"some": bad("good", tools=["echo"])}) as offer:
        assert list(offer.tools) == ["some.echo"]
    with pytest.raises(UsageError, match=r"mcp\.some\.tools: it has no tool ecko"):
        async with offering({"some": bad("good", tools=["ecko"])}):
            pass


async def test_a_server_gets_no_key_of_the_user_unless_it_is_given(
    offering: Offering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("MY_TOKEN", "token")
    entry = bad("good", env={"MODE": "test"}, pass_env=["MY_TOKEN"])
    async with offering({"one": entry}) as offer:
        seen = json.loads((await offer.call("one.environment")).content)
        assert "OPENAI_API_KEY" not in seen
        assert (seen["MY_TOKEN"], seen["MODE"]) == ("token", "test")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a daemon's father be chosen")
@pytest.mark.parametrize("how", ["daemon", "stubborn"])
async def test_nothing_that_a_server_started_outlives_the_run(
    offering: Offering, tmp_path: Path, how: str
) -> None:
    entry = bad(how)
    entry["command"] = [*entry["command"], str(tmp_path / "child")]
    async with offering({"father": entry}) as offer:
        pid = int((await offer.call("father.pid")).content)
        child = int((tmp_path / "child").read_text())
    assert await gone(pid)
    assert await gone(child)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a daemon's father be chosen")
async def test_a_server_does_not_outlive_retrai_being_killed(tmp_path: Path) -> None:
    entry = bad("stubborn")
    entry["command"] = [*entry["command"], str(tmp_path / "child")]
    retrai = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", HOLDS_A_SERVER, str(tmp_path), json.dumps(entry)),
        stdout=asyncio.subprocess.PIPE,
    )
    assert retrai.stdout is not None
    pid = int(await retrai.stdout.readline())
    retrai.send_signal(signal.SIGKILL)
    await retrai.wait()
    assert await gone(pid)
    assert await gone(int((tmp_path / "child").read_text()))


async def test_servers_start_side_by_side(offering: Offering, tmp_path: Path) -> None:
    """Each answers only when all have been started."""
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    entries = {f"s{number}": bad("waits-for-three") for number in range(3)}
    for entry in entries.values():
        entry["command"] = [*entry["command"], str(meeting)]
    async with offering(entries) as offer:
        assert {name.split(".")[0] for name in offer.tools} == {"s0", "s1", "s2"}, offer.said
