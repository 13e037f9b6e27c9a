"""The step on the wire: what is proposed, what is answered, and what becomes of the history."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from .wire import KEY, Request, Sent, Service, acted, observed, roles, turn

ACTION = 'Thought: read it\nAction: read_file(path="shop.py", lines=[1, 2])'


def test_an_action_is_proposed(react: Service) -> None:
    react.model.plays(ACTION)
    session = str(uuid.uuid4())
    step = react.step(session_id=session, unknown_field=1)
    assert step["status"] == "action_proposed", step
    assert step["session_id"] == session
    assert step["thought"] == "read it"
    assert step["action_details"] == {
        "tool_name": "read_file",
        "tool_args": {"path": "shop.py", "lines": [1, 2]},
        "raw_action_string": 'read_file(path="shop.py", lines=[1, 2])',
    }
    assert step["direct_response"] is None
    assert step["iterations_remaining"] == 4
    assert "error" not in step
    history = step["updated_conversation_history"]
    assert roles(history) == ["user", "assistant"]
    assert history[0]["content"] == "Where is the price computed?"
    assert history[1]["content"] == "read it"
    assert history[1]["toolCall"] == {
        "name": "read_file",
        "parameters": {"path": "shop.py", "lines": [1, 2]},
    }
    assert [each.key for each in react.model.requests] == [KEY]


def test_an_answer_is_given(react: Service) -> None:
    react.model.plays("Thought: I know it\nAnswer: In shop.py.\nIn `price`.")
    step = react.step(max_iterations_left=1)
    assert step["status"] == "direct_response_provided"
    assert step["direct_response"] == "In shop.py.\nIn `price`."
    assert step["action_details"] is None
    assert step["iterations_remaining"] == 0
    said = step["updated_conversation_history"][-1]
    assert said["content"] == "I know it\n\nIn shop.py.\nIn `price`."
    assert "toolCall" not in said


def test_a_step_after_an_observation_adds_no_user_turn(react: Service) -> None:
    react.model.plays("Answer: 42")
    history = [
        turn("user", "how many?", timestamp="2026-01-01T00:00:00Z"),
        acted("grep", {"pattern": "x"}),
        observed("42 lines"),
    ]
    step = react.step(user_query="  ", conversation_history=history)
    assert step["updated_conversation_history"][:3] == history, "they come back as they were"
    assert roles(step["updated_conversation_history"][3:]) == ["assistant"]
    said = react.model.requests[0].messages
    assert [each["role"] for each in said] == ["system", "user", "assistant", "user"]
    assert said[2]["content"] == 'Thought: look\nAction: grep(pattern="x")'
    assert "Observation: 42 lines" in said[3]["content"]


def test_a_failed_tool_is_told_to_the_model(react: Service) -> None:
    react.model.plays("Answer: no")
    history = [acted("grep", {}), observed("no such file", success=False)]
    react.step(user_query="", conversation_history=history)
    assert "Observation (the tool failed): no such file" in react.prompt


def test_without_iterations_it_asks_for_an_answer_and_proposes_nothing(react: Service) -> None:
    react.model.plays(ACTION)
    step = react.step(max_iterations_left=0)
    assert step["status"] == "direct_response_provided"
    assert step["direct_response"] == "read it"
    assert step["iterations_remaining"] == 0
    assert "answer now" in react.prompt.lower()
    assert "grep(pattern" not in react.prompt


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Sent(status=401, raw=b'{"error": {"message": "%s"}}' % KEY.encode()), "MODEL_CALL_FAILED"),
        (Sent(status=500, raw=b"Traceback /usr/lib/x.py"), "MODEL_CALL_FAILED"),
        (Sent(raw=b"<html><body>Welcome</body></html>", kind="text/html"), "MODEL_CALL_FAILED"),
        (Sent("Thought: half of the answ", hang_up_after=40), "MODEL_CALL_FAILED"),
        (Sent(""), "MODEL_EMPTY_ANSWER"),
        (Sent(raw=b'{"choices": []}'), "MODEL_CALL_FAILED"),
    ],
)  # fmt: skip
def test_a_failed_call_is_a_step_with_an_error(react: Service, answer: Sent, code: str) -> None:
    react.model.plays(answer)
    history = [turn("user", "before")]
    step = react.step(conversation_history=history, max_iterations_left=3)
    assert step["status"] == "error"
    assert step["error"]["code"] == code
    assert step["thought"] == ""
    assert step["action_details"] is step["direct_response"] is None
    assert step["updated_conversation_history"] == history
    assert step["iterations_remaining"] == 3
    message = step["error"]["message"]
    assert message
    assert "\n" not in message
    for secret in (KEY, "127.0.0.1", "/usr/lib", str(react.folder)):
        assert secret not in message
    react.model.plays(ACTION)
    assert react.step()["status"] == "action_proposed", "the service serves on"


@pytest.mark.parametrize("content", ["", "Thought: call it"])
def test_a_native_tool_call_is_an_action(react: Service, content: str) -> None:
    function = {"name": "grep", "arguments": '{"pattern": "a\\"b"}'}
    calls = [{"id": "c1", "type": "function", "function": function}]
    react.model.plays(Sent({"content": content, "tool_calls": calls}))
    step = react.step()
    assert step["action_details"] == {
        "tool_name": "grep",
        "tool_args": {"pattern": 'a"b'},
        "raw_action_string": 'grep(pattern="a\\"b")',
    }
    assert step["thought"] == content.removeprefix("Thought: ")


def test_a_positional_argument_has_the_name_that_the_segment_declares(react: Service) -> None:
    react.model.plays('Action: grep("x", "src", 3)')
    assert react.step()["action_details"]["tool_args"] == {"pattern": "x", "path": "src", "arg2": 3}


def test_an_unknown_tool_is_told_to_the_model_once(react: Service) -> None:
    react.model.plays("Action: rm_rf()", 'Thought: right\nAction: grep(pattern="x")')
    step = react.step()
    assert step["action_details"]["tool_name"] == "grep"
    assert len(react.model.requests) == 2
    assert "no tool rm_rf" in react.prompt
    assert "read_file, grep" in react.prompt
    assert "rm_rf" not in str(step)


def test_an_unknown_tool_that_is_named_again_is_a_direct_response(react: Service) -> None:
    react.model.plays("Thought: I insist\nAction: rm_rf()")
    step = react.step()
    assert step["status"] == "direct_response_provided"
    assert step["direct_response"] == "Thought: I insist\nAction: rm_rf()"
    assert len(react.model.requests) == 2


@pytest.mark.parametrize("segment", ["", "Use whatever you like, but be careful."])
def test_where_no_name_can_be_read_every_name_is_accepted(react: Service, segment: str) -> None:
    react.model.plays("Action: anything_at_all(1)")
    step = react.step(available_tools_prompt_segment=segment)
    assert step["action_details"]["tool_args"] == {"arg0": 1}


@pytest.mark.parametrize(
    "text",
    [
        'Thought: half\nAction: read_file(path="shop',
        "Action: this is no call",
        "Just words.",
        "Action: read_file(path=1e999)",
    ],
)
def test_what_cannot_be_parsed_is_a_direct_response(react: Service, text: str) -> None:
    react.model.plays(text)
    step = react.step()
    assert step["status"] == "direct_response_provided"
    assert step["direct_response"] == text


def test_the_same_action_for_ever_gets_a_warning(react: Service) -> None:
    react.model.plays('Action: grep(pattern="x")')
    history: list[dict[str, Any]] = []
    warnings: list[list[str]] = []
    for _ in range(3):
        step = react.step(user_query="", conversation_history=history)
        warnings.append(step["warnings"])
        history = [*step["updated_conversation_history"], observed("nothing")]
    assert warnings == [[], [], ["the same action was proposed 3 times in a row"]]


def test_nothing_of_a_request_stays_for_the_next(react: Service) -> None:
    react.model.plays("Answer: a")
    react.step(llm={"temperature": 1.5, "reservedOutputTokens": 77, "modelName": "openai/gpt-4"})
    react.step()
    react.step(llm={"temperature": 0})
    bodies = [each.body for each in react.model.requests]
    assert [each["model"] for each in bodies] == ["gpt-4", "gpt-4o", "gpt-4o"]
    assert [each["temperature"] for each in bodies] == [1.5, 0.0, 0.0]
    assert [each["max_tokens"] for each in bodies] == [77, 1000, 1000]


def test_roles_that_do_not_alternate_are_taken(react: Service) -> None:
    react.model.plays("Answer: a")
    history = [acted("grep", {}), acted("grep", {}), turn("user", "u"), turn("user", "v")]
    step = react.step(conversation_history=history)
    assert step["updated_conversation_history"][:4] == history
    said = [each["role"] for each in react.model.requests[0].messages]
    assert said == ["system", "user", "assistant", "user"]


def test_the_answer_may_depend_on_the_prompt(react: Service) -> None:
    def answer(request: Request) -> str:
        return f"Answer: {len(request.messages)}"

    react.model.decides(answer)
    assert react.step()["direct_response"] == "2"
