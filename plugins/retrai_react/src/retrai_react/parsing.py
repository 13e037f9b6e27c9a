"""Reads what a model writes: `Thought:`, then `Action: name(...)` or `Answer:`.

A call's arguments are JSON values, by name or by position. Models write Python as often as JSON, so
`True`, `None`, single quotes and trailing commas are read too.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_HEADER = re.compile(
    r"^[ \t>#*_`-]*(thought|action|answer|final[ ]answer|observation)"
    r"(?:[ \t]*\d+)?[*_`]*(?:[ \t]+(?=:))?:[*_`]*",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n?")
_WHOLE_FENCE = re.compile(r"\A\s*```[\w+-]*[ \t]*\n(?P<inside>.*)\n[ \t]*```\s*\Z", re.DOTALL)
_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[^\W\d][\w.:/-]*")
_CALL_START = re.compile(r"[\s`]*(?:\w+\n)?[^\W\d][\w.:/-]*\(")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")
_TEXT = {
    quote: re.compile(rf"[^\\{quote[0]}]+" if len(quote) == 1 else rf"[^\\{quote[0]}]+|{quote[0]}")
    for quote in ("'''", '"""', "'", '"')
}
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "/": "/",
    "\\": "\\",
    '"': '"',
    "'": "'",
    "\n": "",
}
_HEX = {"x": 2, "u": 4, "U": 8}
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_MAX_DEPTH = 64
_MAX_DIGITS = 400
_CALL_KEYS = (("tool", "tool_name", "name", "action"), ("args", "arguments", "parameters", "input"))


class UnreadableError(Exception):
    """The text is no call."""


@dataclass(frozen=True)
class Call:
    """A tool call.

    Attributes:
        name: the tool's name.
        positional: arguments without a name, in their order.
        named: those with one.
        source: the call as the model wrote it.
    """

    name: str
    positional: Sequence[Any] = ()
    named: Mapping[str, Any] = field(default_factory=dict[str, Any])
    source: str = ""

    def arguments(self, parameters: Sequence[str] = ()) -> dict[str, Any]:
        """All arguments by name.

        Args:
            parameters: the names that the tool declares, in order; a positional argument without
                one is `arg0`, `arg1`, ...

        Example:
            >>> parse_call('f("a", 2, c=3)').arguments(["path"])
            {'path': 'a', 'arg1': 2, 'c': 3}
        """
        found: dict[str, Any] = {}
        for number, value in enumerate(self.positional):
            name = parameters[number] if number < len(parameters) else f"arg{number}"
            found[f"arg{number}" if name in self.named else name] = value
        return {**found, **self.named}


@dataclass(frozen=True)
class Reply:
    """What a model's text says.

    Attributes:
        thought: its reasoning.
        call: the first action that can be read.
        answer: the words for the user; None where there is a call.
    """

    thought: str = ""
    call: Call | None = None
    answer: str | None = None


def parse_reply(text: str) -> Reply:
    """Read a model's text. What has no action that can be read is an answer.

    Example:
        >>> reply = parse_reply('Thought: look at it\\nAction: read(path="a.py", lines=[1, 2])')
        >>> reply.thought, reply.call.name, reply.call.arguments()
        ('look at it', 'read', {'path': 'a.py', 'lines': [1, 2]})
        >>> parse_reply("Thought: done\\nAnswer: 42").answer
        '42'
    """
    whole = text.strip()
    fenced = _WHOLE_FENCE.match(whole)
    if fenced is not None and "```" not in fenced["inside"]:
        whole = fenced["inside"].strip()
    thoughts: list[str] = []
    before = _HEADER.search(whole)
    lead = _without_fence(whole[: before.start()] if before else "")
    header, has_action = before, False
    while header is not None:
        kind = header[1].lower()
        following = _HEADER.search(whole, header.end())
        if kind == "action":
            has_action = True
            call = _call_at(whole, header.end())
            if call is not None:
                return Reply("\n".join(thoughts) or lead, call)
            if _CALL_START.match(whole, header.end()):
                break  # a later header may stand in one of its values
        if kind.endswith("answer"):
            return Reply("\n".join(thoughts) or lead, None, whole[header.end() :].strip())
        if kind == "thought":
            end = following.start() if following else len(whole)
            thoughts.append(_without_fence(whole[header.end() : end]))
        header = following
    if thoughts and not has_action:
        return Reply("", None, "\n".join(filter(None, [lead, *thoughts])))
    return Reply("", None, whole)


def parse_call(text: str) -> Call:
    """Read one call, and nothing behind it.

    Raises:
        UnreadableError: the text does not begin with a call.
    """
    return _Scanner(text).call()


def parse_value(text: str) -> Any:
    """Read one value, and nothing behind it.

    Raises:
        UnreadableError: the text does not begin with a value.
    """
    return _Scanner(text).value()


def render_call(name: str, arguments: Mapping[str, Any]) -> str:
    """A call as `parse_call` reads it.

    Example:
        >>> render_call("read", {"path": "a.py", "lines": [1, 2]})
        'read(path="a.py", lines=[1, 2])'
    """
    shown = (f"{_rendered_name(key)}={_as_json(value)}" for key, value in arguments.items())
    return f"{name}({', '.join(shown)})"


def _rendered_name(name: str) -> str:
    whole = _NAME.fullmatch(name)
    return name if whole and name not in _WORDS else _as_json(name)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _call_at(text: str, position: int) -> Call | None:
    """The call behind a header; a fence or a backtick may stand before it."""
    position = _skip(text, position)
    fence = _FENCE.match(text, position)
    if fence is not None:
        position = _skip(text, fence.end())
    elif text.startswith("`", position):
        position += 1
    try:
        scanner = _Scanner(text, position)
        return scanner.json_call() if text.startswith("{", position) else scanner.call()
    except UnreadableError:
        return None


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _without_fence(text: str) -> str:
    return _FENCE.sub("", text).strip()


class _Scanner:
    """Reads from a position on."""

    def __init__(self, text: str, position: int = 0) -> None:
        self._text = text
        self._at = position

    def call(self) -> Call:
        start = self._at = _skip(self._text, self._at)
        name = self._name()
        self._expect("(")
        positional: list[Any] = []
        named: dict[str, Any] = {}
        while not self._takes(")"):
            key = self._key()
            if key is None:
                positional.append(self.value())
            else:
                named[key] = self.value()
            if not self._takes(","):
                self._expect(")")
                break
        return Call(name, positional, named, self._text[start : self._at])

    def json_call(self) -> Call:
        """A call as an object, `{"tool": ..., "args": {...}}`."""
        start = self._at
        value = self.value()
        keys, arguments = _CALL_KEYS
        name = next((value[key] for key in keys if isinstance(value.get(key), str)), "")
        given = next((value[key] for key in arguments if isinstance(value.get(key), dict)), {})
        if not _NAME.fullmatch(name):
            raise UnreadableError
        return Call(name, (), given, self._text[start : self._at])

    def value(self, depth: int = 0) -> Any:
        if depth > _MAX_DEPTH:
            raise UnreadableError
        self._at = _skip(self._text, self._at)
        first = self._text[self._at : self._at + 1]
        if first in ("'", '"') and first:
            return self._string()
        if first == "{":
            return self._object(depth)
        if first == "[":
            return self._list(depth)
        number = _NUMBER.match(self._text, self._at)
        if number is not None:
            self._at = number.end()
            return _number(number[0])
        word = self._name()
        if word not in _WORDS:
            raise UnreadableError
        return _WORDS[word]

    def _object(self, depth: int) -> dict[str, Any]:
        self._expect("{")
        found: dict[str, Any] = {}
        while not self._takes("}"):
            self._at = _skip(self._text, self._at)
            is_quoted = self._text[self._at : self._at + 1] in ("'", '"')
            key = self._string() if is_quoted else self._name()
            self._expect(":")
            found[key] = self.value(depth + 1)
            if not self._takes(","):
                self._expect("}")
                break
        return found

    def _list(self, depth: int) -> list[Any]:
        self._expect("[")
        found: list[Any] = []
        while not self._takes("]"):
            found.append(self.value(depth + 1))
            if not self._takes(","):
                self._expect("]")
                break
        return found

    def _string(self) -> str:
        text = self._text
        quote = next(each for each in _TEXT if text.startswith(each, self._at))
        if len(quote) == 3 and not text.find(quote, self._at + 3) > 0:
            quote = quote[0]  # an empty string, and what follows it
        self._at += len(quote)
        parts: list[str] = []
        while not text.startswith(quote, self._at):
            plain = _TEXT[quote].match(text, self._at)
            if plain is not None:
                parts.append(plain[0])
                self._at = plain.end()
            elif text.startswith("\\", self._at):
                parts.append(self._escape())
            else:
                raise UnreadableError
        self._at += len(quote)
        # Two escapes may be one character.
        return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _escape(self) -> str:
        letter = self._text[self._at + 1 : self._at + 2]
        self._at += 2
        if letter in _ESCAPES and letter:
            return _ESCAPES[letter]
        if letter in _HEX and letter:
            digits = self._text[self._at : self._at + _HEX[letter]]
            if len(digits) == _HEX[letter] and all(c in "0123456789abcdefABCDEF" for c in digits):
                self._at += len(digits)
                code = int(digits, 16)
                return chr(code) if code < 0x110000 else "\ufffd"
        return f"\\{letter}"  # a regular expression's, say

    def _key(self) -> str | None:
        """The name before `=`; None where the argument has none."""
        start = self._at = _skip(self._text, self._at)
        try:
            is_quoted = self._text[start : start + 1] in ("'", '"')
            name = self._string() if is_quoted else self._name()
            self._expect("=")
        except UnreadableError:
            self._at = start
            return None
        return name

    def _name(self) -> str:
        self._at = _skip(self._text, self._at)
        found = _NAME.match(self._text, self._at)
        if found is None:
            raise UnreadableError
        self._at = found.end()
        return found[0]

    def _takes(self, sign: str) -> bool:
        self._at = _skip(self._text, self._at)
        found = self._text.startswith(sign, self._at)
        self._at += len(sign) * found
        return found

    def _expect(self, sign: str) -> None:
        if not self._takes(sign):
            raise UnreadableError


def _number(text: str) -> int | float:
    if len(text) > _MAX_DIGITS:
        raise UnreadableError
    if text.lstrip("+-").isdecimal():
        return int(text)
    value = float(text)
    if not math.isfinite(value):
        raise UnreadableError
    return value
