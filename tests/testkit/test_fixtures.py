"""The fixtures: runs on a temporary project, a scripted model, a server at the wire."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

from retrai_testkit import FakeLLMServer, RetraiProject, ScriptedModel, Turn, call, say
from retrai_testkit.turns import Call

MEND = call("put_file", path="a.txt", text="right")


def test_a_run_in_a_process_of_its_own_is_driven_by_the_script(
    retrai_project: RetraiProject, scripted_model: ScriptedModel
) -> None:
    retrai_project.write({"a.txt": "wrong"})
    scripted_model.play(call("no_such_tool"), MEND)
    run = retrai_project.run("expected-files", model=scripted_model, files={"a.txt": "right"})
    assert (run.exit_code, run.record.status) == (0, "achieved"), run.stderr
    assert retrai_project.read("a.txt") == "right"
    assert run.tool_results()[-1] == "wrote a.txt"
    assert len(run.seen()) == 2
    assert run.folder is not None
    assert retrai_project.state in run.folder.parents


def test_nothing_is_run_where_the_configuration_is_wrong(retrai_project: RetraiProject) -> None:
    run = retrai_project.run("expected-files", model="scripted", no_such_option=1)
    assert run.exit_code == 2
    assert "no_such_option" in run.stderr
    with pytest.raises(AssertionError, match="no run was started"):
        _ = run.record


def test_the_script_goes_on_after_a_turn_that_failed(
    retrai_project: RetraiProject, scripted_model: ScriptedModel
) -> None:
    retrai_project.write({"a.txt": "wrong"})
    scripted_model.play(Turn(error="the line is busy"), MEND)
    run = retrai_project.run_here("expected-files", model=scripted_model, files={"a.txt": "right"})
    assert run.record.status == "achieved", run.record.reason


def test_the_script_s_place_is_kept_in_the_conversation(scripted_model: ScriptedModel) -> None:
    from langchain_core.messages import HumanMessage, ToolMessage

    scripted_model.play(call("look"), say("second"), say("third"))
    first = scripted_model.chat_model().invoke("go")
    result = ToolMessage("seen", tool_call_id=first.tool_calls[0]["id"])
    # Another model object, as after a resume, and a window that has lost the first answer.
    second = scripted_model.chat_model().invoke([HumanMessage("go"), result])
    assert second.content == "second"
    assert scripted_model.chat_model().invoke([first, result, second]).content == "third"


def post(server: FakeLLMServer, **body: object) -> bytes:
    data = json.dumps({"model": "m", "messages": [], **body}).encode()
    headers = {"Authorization": "Bearer sk-1"}
    url = f"{server.base_url}/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=20) as answer:
        return answer.read()


def test_the_server_asks_for_tools_and_keeps_the_requests(fake_llm_server: FakeLLMServer) -> None:
    fake_llm_server.play(MEND)
    choice = json.loads(post(fake_llm_server, temperature=0.5))["choices"][0]
    function = choice["message"]["tool_calls"][0]["function"]
    assert choice["finish_reason"] == "tool_calls"
    assert json.loads(function["arguments"]) == {"path": "a.txt", "text": "right"}
    assert fake_llm_server.requests[0]["temperature"] == 0.5
    assert fake_llm_server.keys == ["sk-1"]


def test_a_stream_adds_up_to_the_same_answer(fake_llm_server: FakeLLMServer) -> None:
    fake_llm_server.play(Turn(text="hello you", calls=(Call(name="look", args={"path": "é"}),)))
    lines = post(fake_llm_server, stream=True).decode().split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    assert "".join(delta.get("content", "") for delta in deltas) == "hello you"
    pieces = [part["function"]["arguments"] for d in deltas for part in d.get("tool_calls", ())]
    assert json.loads("".join(pieces)) == {"path": "é"}
    assert chunks[-1]["usage"]["total_tokens"] == 15


def test_an_error_has_its_status_and_headers(fake_llm_server: FakeLLMServer) -> None:
    fake_llm_server.play(Turn(error="slow down", status=429, headers={"Retry-After": "7"}))
    with pytest.raises(urllib.error.HTTPError) as caught:
        post(fake_llm_server)
    assert caught.value.code == 429
    assert caught.value.headers["Retry-After"] == "7"
    assert b"slow down" in caught.value.read()
    assert b"used up" in post(fake_llm_server)
