"""The step on the wire."""

from __future__ import annotations

from .wire import KEY, Service, roles


def test_an_action_is_proposed(react: Service) -> None:
    react.model.plays('Thought: read it\nAction: read_file(path="shop.py", lines=[1, 2])')
    step = react.step()
    assert step["status"] == "action_proposed", step
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
