"""The run log holds every event, and reads what a kill or an odd text left in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_core import AgentEvent
from retrai_core.runs.log import RunLog, read_events


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


def event(number: int) -> AgentEvent:
    payload = {"level": "info", "message": f"number {number}"}
    return AgentEvent("log", "r1", number, payload, ts=1.5, seq=number)


def test_events_come_back_as_they_were_written(path: Path) -> None:
    log = RunLog(path)
    for i in range(1, 6):
        log.append(event(i))
    assert list(read_events(path)) == [event(i) for i in range(1, 6)]


def test_an_event_can_be_read_while_the_log_is_open(path: Path) -> None:
    log = RunLog(path)
    log.append(event(1))
    assert list(read_events(path)) == [event(1)]


def test_a_range_of_events_is_given_back(path: Path) -> None:
    log = RunLog(path)
    for i in range(1, 11):
        log.append(event(i))
    assert log.read(3, 6) == [event(3), event(4), event(5)]
    assert log.read(9, 99) == [event(9), event(10)]


def test_a_resumed_run_knows_the_number_of_the_last_event(path: Path) -> None:
    first = RunLog(path)
    for i in range(1, 4):
        first.append(event(i))
    first.close()
    resumed = RunLog(path)
    assert resumed.last_seq == 3
    resumed.append(event(4))
    assert resumed.read(4, 5) == [event(4)]
    assert list(read_events(path)) == [event(i) for i in range(1, 5)]


def test_a_log_of_retrai_0_1_is_read_with_the_names_of_now_and_numbered(path: Path) -> None:
    old = [
        ("step_start", {"step": "act"}),
        ("tool_call", {"id": "c", "name": "look", "args": {}, "summary": ""}),
        ("tool_result", {"id": "c", "name": "look", "ok": False, "content": "no"}),
        ("llm_usage", {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}),
        ("run_end", {"outcome": "failed", "reason": "no"}),
    ]
    common = {"run_id": "r1", "iteration": 0, "ts": 1.5}
    lines = [json.dumps({"kind": kind, "payload": payload, **common}) for kind, payload in old]
    path.write_text("\n".join(lines) + "\n")
    events = list(read_events(path))
    assert [event.seq for event in events] == [1, 2, 3, 4, 5]
    assert [dict(event.payload) for event in events] == [
        {"node": "act"},
        {"id": "c", "tool": "look", "args": {}, "summary": ""},
        {"id": "c", "tool": "look", "error": True, "content": "no"},
        {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        {"status": "failed", "reason": "no"},
    ]
    assert RunLog(path).last_seq == 5


@pytest.mark.parametrize("kept", range(1, 100, 9))
def test_a_line_that_a_kill_left_half_written_costs_only_itself(path: Path, kept: int) -> None:
    log = RunLog(path)
    log.append(event(1))
    whole = len(path.read_bytes())
    log.append(event(2))
    path.write_bytes(path.read_bytes()[: whole + kept])
    resumed = RunLog(path)
    assert resumed.last_seq == 1
    resumed.append(event(2))
    assert list(read_events(path)) == [event(1), event(2)]
    assert resumed.read(2, 3) == [event(2)]


def test_bytes_that_are_no_text_and_lines_that_are_no_events_are_passed_over(path: Path) -> None:
    odd = b'\xff\xfe\xe9\n\n[]\n{"kind": "log"}\n{"kind": "dance", "run_id": "r1"}\nnull\n'
    path.write_bytes(odd + event(1).to_json().encode() + b"\n")
    assert list(read_events(path)) == [event(1)]


@given(text=st.text(st.characters() | st.sampled_from("\u2028\u2029\x85\r\n\x1c\ud83d\udc80")))
def test_any_text_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("log") / "events.jsonl"
    log = RunLog(path)
    odd = AgentEvent("tool_result", "r1", 0, {"content": text}, ts=1.0, seq=1)
    log.append(odd)
    log.append(event(2))
    assert list(read_events(path)) == [odd, event(2)]
    log.close()


@pytest.mark.skipif(sys.platform == "win32", reason="needs file size limits")
def test_a_log_that_cannot_be_written_is_one_clear_line(path: Path) -> None:
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from retrai_core import AgentEvent, RetraiError\n"
        "from retrai_core.runs.log import RunLog\n"
        "log = RunLog(Path(sys.argv[1]))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))\n"
        "for number in range(3):\n"
        "    try:\n"
        "        log.append(AgentEvent('log', 'r1', 0, {'message': 'x' * 300}))\n"
        "    except RetraiError as error:\n"
        "        print(error)\n"
        "log.close()\n"
    )
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    said = done.stdout.splitlines()
    assert len(said) == 2
    assert said[0].startswith("the run's log cannot be written: File too large")
    assert "`retrai runs resume r1` goes on" in said[1]
    assert len(list(read_events(path))) == 1
