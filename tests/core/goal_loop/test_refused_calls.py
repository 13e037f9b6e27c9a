"""Calls that a gate or a person refuses stand in the record, and are no tampering."""

from __future__ import annotations

from typing import Any

from retrai_core.cli.render.summary import summary_lines

Runs = Any
"""The fixture's class, in conftest.py."""

ASKING = {"plugins": {"asks": {"about": "shell"}}}


def call(name: str, **args: Any) -> dict[str, Any]:
    """One turn that calls one tool."""
    return {"text": f"calling {name}", "calls": [{"name": name, "args": args}]}


MEND = call("put", path="a.txt", text="right\n")


async def test_a_call_that_a_gate_refuses_stands_in_the_record_once(runs: Runs) -> None:
    push = call("shell", line="git push\n  --force")
    record = await runs.run([push, push, call("shell", line="ls"), MEND], **ASKING)
    why = "to be sure, and nobody can be asked here"
    assert record.refused == [f"shell git push --force: {why}", f"shell ls: {why}"]
    shown = [line.plain.split() for line in summary_lines(record)]
    assert f"refused shell ls: {why}".split() in shown


async def test_a_call_that_a_person_refuses_stands_in_the_record(runs: Runs) -> None:
    async def answer(question: Any) -> str:
        return "no" if "shell" in question.text else "yes"

    turns = [call("shell", line="git push"), MEND]
    record = await runs.run(turns, ask=answer, hitl_enabled=True, **ASKING)
    assert (record.status, record.refused) == ("achieved", ["shell git push: refused by the user"])


async def test_refused_calls_are_no_tampering(runs: Runs) -> None:
    turns = [call("shell", line=f"git push {number}") for number in range(3)]
    record = await runs.run([*turns, MEND], max_tampering=1, **ASKING)
    assert (record.status, len(record.refused)) == ("achieved", 3)


async def test_a_secret_in_a_refused_call_is_not_in_the_record(runs: Runs) -> None:
    secret = "sk-live-4f9a8b7c6d5e4f3a2b1c"
    (runs.project / ".env").write_text(f"PAY_API_KEY={secret}\n")
    record = await runs.run([call("shell", line=f"curl -H {secret} x"), MEND], **ASKING)
    [line] = record.refused
    assert secret not in line
    assert line.startswith("shell curl -H [redacted: .env PAY_API_KEY] x: to be sure")


async def test_half_a_secret_that_a_cut_leaves_is_in_no_line(runs: Runs) -> None:
    secret = "sk-live-4f9a8b7c6d5e4f3a2b1c"
    (runs.project / ".env").write_text(f"PAY_API_KEY={secret}\n")
    line = f"echo {'x' * 180} {secret}"
    record = await runs.run([call("shell", line=line), MEND], **ASKING)
    told = [event.payload["summary"] for event in runs.events(record, "tool_call")]
    assert [text for text in [*record.refused, *told] if "sk-live" in text] == []
    assert told[0].startswith("echo xxx")
