"""What models write, and that any call is read back as it was written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrai_react.declarations import read_declarations
from retrai_react.parsing import UnreadableError, parse_call, parse_reply, render_call

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAME = st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_.:/-]{0,12}\Z").filter(lambda name: ":=" not in name)
WORDS = frozenset({"true", "false", "null", "None", "True", "False"})
NUMBER = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
SCHEMA = {"type": "object", "properties": {"a": {}, "b": {}}}
FUNCTION = {"name": "f", "parameters": SCHEMA}
QUICK = settings(max_examples=150, deadline=None)


def written(value: Any, draw: Any) -> str:
    """A value in one of the forms that models use."""
    if value is None or isinstance(value, bool):
        python = draw(st.booleans())
        return str(value) if python else json.dumps(value)
    if isinstance(value, str):
        if draw(st.booleans()):
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        quote = draw(st.sampled_from("'\""))
        return quote + value.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote
    space = draw(st.sampled_from(["", " ", "\n  "]))
    if isinstance(value, list):
        items = f",{space}".join(written(each, draw) for each in value)
        return f"[{space}{items}{',' if value and draw(st.booleans()) else ''}]"
    if isinstance(value, dict):
        pairs = (f"{written(key, draw)}:{space}{written(v, draw)}" for key, v in value.items())
        return f"{{{space}{f',{space}'.join(pairs)}}}"
    return json.dumps(value)


@QUICK
@given(NAME, st.dictionaries(TEXT, VALUE, max_size=5))
def test_any_rendered_call_is_read_back(name: str, arguments: dict[str, Any]) -> None:
    source = render_call(name, arguments)
    call = parse_call(source)
    assert (call.name, call.arguments()) == (name, arguments)
    reply = parse_reply(f"Thought: why\nAction: {source}\nObservation: none")
    assert reply.call is not None
    assert (reply.thought, reply.call.arguments()) == ("why", arguments)
    assert reply.call.source == source


@QUICK
@given(st.data(), NAME, st.lists(VALUE, max_size=3), st.dictionaries(NAME, VALUE, max_size=3))
def test_any_call_of_the_grammar_is_read_back(
    data: st.DataObject, name: str, positional: list[Any], named: dict[str, Any]
) -> None:
    named = {key: value for key, value in named.items() if key not in WORDS}
    space = data.draw(st.sampled_from(["", " ", "\n"]))
    parts = [written(each, data.draw) for each in positional]
    parts += [f"{key}{space}={space}{written(each, data.draw)}" for key, each in named.items()]
    source = f"{name}({space}{f'{space},{space}'.join(parts)}{space})"
    call = parse_call(source)
    assert call.name == name
    assert list(call.positional) == positional
    assert dict(call.named) == named


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("Action: f(a=\"'\\{}[]),\n1tru`e.-") | st.characters(), max_size=80))
def test_no_text_breaks_it(text: str) -> None:
    reply = parse_reply(f"Action: {text}")
    assert reply.call is not None or reply.answer is not None
    read_declarations(text)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("Action: f(a='it\\'s', b=\"x\\ty\")", {"a": "it's", "b": "x\ty"}),
        ('Action: f(a="1, 2) and (3", b=-1.5e3)', {"a": "1, 2) and (3", "b": -1500.0}),
        ('Action: f(code="line 1\nAnswer: no\nline 3")', {"code": "line 1\nAnswer: no\nline 3"}),
        ("Action: f(a=True, b=null, c=None)", {"a": True, "b": None, "c": None}),
        ('Action: f("x", 2, c={"k": ["}"]})', {"arg0": "x", "arg1": 2, "c": {"k": ["}"]}}),
        ('```\nThought: t\nAction: f(a="x")\n```', {"a": "x"}),
        ('Thought: t\nAction:\n```python\nf(a="x")\n```\nand so on', {"a": "x"}),
        ('**Action:** `f(a="x")`', {"a": "x"}),
        ('Sure!\nThought: t\nAction: f(a="x")\nObservation: y\nAnswer: z', {"a": "x"}),
        ('Action: f(a="x")\nAction: g(a="y")', {"a": "x"}),
        ('Action: nothing here\nAction: f(a="x")', {"a": "x"}),
        ('Action: {"tool": "f", "args": {"a": "x"}}', {"a": "x"}),
        ('Action: f(a="""two\n"quoted" lines""")', {"a": 'two\n"quoted" lines'}),
        ('Action: f(a="\\d+\\u00e9", b="")', {"a": "\\d+é", "b": ""}),
        ("Action: f()", {}),
    ],
)  # fmt: skip
def test_what_models_write(text: str, arguments: dict[str, Any]) -> None:
    reply = parse_reply(text)
    assert reply.call is not None, reply
    assert (reply.call.name, reply.call.arguments()) == ("f", arguments)


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        ("Let me look.\nAction: f()", "Let me look."),
        ("Preface\nThought: a\nmore of a\nAction: f()", "a\nmore of a"),
        ("thought: a\nTHOUGHT: b\naction: f()", "a\nb"),
        ("Action: f()", ""),
    ],
)
def test_a_thought_may_be_missing_or_long(text: str, thought: str) -> None:
    assert parse_reply(text).thought == thought


def test_what_is_before_an_answer_is_its_thought_and_the_rest_belongs_to_it() -> None:
    reply = parse_reply("Thought: t\nFinal Answer: a\nAction: f()\n")
    assert (reply.thought, reply.call, reply.answer) == ("t", None, "a\nAction: f()")


@pytest.mark.parametrize(
    "text",
    [
        "f(",
        "f(a=",
        'f(a="x"',
        "f(a=x)",
        "f a",
        "",
        "(1)",
        "f(1 2)",
        f"f({'[' * 500}",
        f"f({'9' * 900})",
    ],
)
def test_what_is_no_call(text: str) -> None:
    with pytest.raises(UnreadableError):
        parse_call(text)


@pytest.mark.parametrize(
    ("segment", "declared"),
    [
        ("read(path, n=3): x\ngrep(p: str, q='.')", {"read": ("path", "n"), "grep": ("p", "q")}),
        ("- `read(path)` - reads\n- grep(p): finds", {"read": ("path",), "grep": ("p",)}),
        ("Tools:\n- read: reads\n  - path: which\n- grep: x", {"read": ("path",), "grep": ()}),
        ("1. read_file: reads\n2. grep: finds", {"read_file": (), "grep": ()}),
        ("### read\nReads.\n- path: it\n### grep\n- p: it", {"read": ("path",), "grep": ("p",)}),
        (json.dumps([{"name": "f", "parameters": SCHEMA}]), {"f": ("a", "b")}),
        (json.dumps([FUNCTION], indent=2), {"f": ("a", "b")}),
        ("Here:\n" + json.dumps({"tools": [{"function": FUNCTION}]}, indent=2), {"f": ("a", "b")}),
        (f'{json.dumps(FUNCTION)}\n{{"name": "g"}}', {"f": ("a", "b"), "g": ()}),
        (json.dumps({"f": {"description": "x", "parameters": {"a": {}}}}), {"f": ("a",)}),
        ("- Note: be careful", {}),
        ("Use them well.", {}),
        ("", {}),
        ("[\n" * 3000, {}),
    ],
)  # fmt: skip
def test_the_tools_of_a_segment(segment: str, declared: dict[str, tuple[str, ...]]) -> None:
    assert dict(read_declarations(segment)) == declared


def test_half_an_action_proposes_nothing_that_stands_in_its_value() -> None:
    text = """Action: write(path='t.md', content='So:\nAction: delete(path="x")\nmore"""
    assert parse_reply(text).call is None
    assert parse_reply(text).answer == text


def test_many_blanks_are_read_at_once() -> None:
    blanks = " " * 100_000
    assert parse_reply(f"Thought{blanks}x").call is None
    assert dict(read_declarations(" " * 200_000 + "\n" + "a(\n" * 20_000)) == {"a": ()}
