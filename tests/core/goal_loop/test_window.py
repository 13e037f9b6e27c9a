"""Which part of a conversation goes to the model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from retrai_core.agents.goal_loop.window import MAX_MESSAGES, window

LIMIT = MAX_MESSAGES - 1


def conversation(turns: list[int]) -> list[AnyMessage]:
    """The goal, then one turn of the model for each number of calls, each checked once."""
    messages: list[AnyMessage] = [HumanMessage("the goal", id="goal")]
    for turn, calls in enumerate(turns):
        ids = [f"{turn}-{i}" for i in range(calls)]
        asked = [{"id": call, "name": "look", "args": {}} for call in ids]
        messages.append(AIMessage(f"turn {turn}", tool_calls=asked))
        messages += [ToolMessage("seen", tool_call_id=call) for call in ids]
        messages.append(HumanMessage(f"check {turn}"))
    return messages


def turns_shown(messages: list[AnyMessage]) -> list[str]:
    return [message.text for message in messages if isinstance(message, AIMessage)]


def test_a_short_conversation_is_sent_whole() -> None:
    messages = conversation([1, 2, 3])
    assert window(messages) == messages


def test_of_a_long_one_the_goal_and_the_last_turns_are_sent() -> None:
    messages = conversation([1] * 100)
    sent = window(messages)
    assert sent[0].text == "the goal"
    assert sent[-1].text == "check 99"
    assert len(sent) <= LIMIT
    assert turns_shown(sent) == [f"turn {i}" for i in range(81, 100)]


def test_a_last_turn_larger_than_the_window_is_sent_whole() -> None:
    sent = window(conversation([1, 1, 80]))
    assert turns_shown(sent) == ["turn 2"]
    assert sum(isinstance(message, ToolMessage) for message in sent) == 80
    assert sent[-1].text == "check 2"


def test_results_that_no_check_has_followed_yet_stay_with_their_calls() -> None:
    sent = window(conversation([1, 80])[:-1])
    assert turns_shown(sent) == ["turn 1"]
    assert sum(isinstance(message, ToolMessage) for message in sent) == 80


def test_the_conversation_itself_is_left_as_it_is() -> None:
    messages = conversation([1] * 100)
    before = list(messages)
    window(messages).clear()
    assert messages == before


@given(turns=st.lists(st.integers(0, 30) | st.integers(0, 3), max_size=60), checked=st.booleans())
def test_no_call_is_ever_cut_from_its_results(turns: list[int], checked: bool) -> None:
    messages = conversation(turns)
    if not checked and turns:
        messages.pop()
    sent = window(messages)

    assert sent[0] is messages[0]
    assert sent[1:] == messages[len(messages) - len(sent) + 1 :], (
        "the rest is the conversation's end"
    )
    asked: list[str] = []
    for message in sent:
        if isinstance(message, AIMessage):
            assert asked == [], "a call is followed by its results"
            asked = [str(call["id"]) for call in message.tool_calls]
        elif isinstance(message, ToolMessage):
            assert message.tool_call_id in asked, "a result comes after its call"
            asked.remove(message.tool_call_id)
        else:
            assert asked == []
    assert asked == [], "every call that is sent has its results"

    last_turn = turns[-1] + 3 if turns else 1
    assert len(sent) <= max(LIMIT, last_turn)
    if turns:
        assert turns_shown(sent)[-1:] == [f"turn {len(turns) - 1}"]
