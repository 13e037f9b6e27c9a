"""The tools that the tools segment of a prompt declares, with the names of their parameters.

Read are JSON (a list of schemas, with `parameters`, `input_schema` or `properties`), lines that
begin with `name(...)`, and lists, `- name: what it does`. A segment in which no name can be read
declares nothing, and every name is accepted.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, cast

Declarations = Mapping[str, tuple[str, ...]]
"""The parameters by the tool's name, in order."""

_LEAD = r"[ \t]*(?:(?:[-*+•]|\d+[.)])[ \t]*)?"
_SIGNATURE = re.compile(
    rf"^{_LEAD}[`*]*(?:async[ ]+)?(?:def[ ]+|function[ ]+)?([^\W\d][\w.:/-]*)\(", re.MULTILINE
)
_ITEM = re.compile(
    r"^([ \t]*)(?:[-*+•]|\d+[.)])[ \t]+[`*]*([^\W\d][\w./-]*)[`*]*[ \t]*"
    r"(?::[`*]*|[(][^()\n]*[)][`*]*[ \t]*:)",
    re.MULTILINE,
)
_HEADING = re.compile(r"^#{1,6}[ \t]+[`*]*([^\W\d][\w./-]*)[`*]*[ \t]*$", re.MULTILINE)
_PARAMETER = re.compile(r"\s*\*{0,2}([^\W\d]\w*)")
_JSON_START = re.compile(r"^[ \t]*(?:[-*][ \t]+)?(?=[\[{])", re.MULTILINE)
_WORDS = frozenset(
    [
        "args",
        "arguments",
        "available",
        "description",
        "example",
        "examples",
        "important",
        "input",
        "name",
        "note",
        "notes",
        "optional",
        "output",
        "parameters",
        "params",
        "required",
        "returns",
        "rules",
        "tip",
        "tool",
        "tools",
        "type",
        "usage",
        "warning",
    ]
)
_SCHEMAS = ("parameters", "input_schema", "inputSchema", "args_schema", "args")
_MAX_FAILURES = 100
_MAX_TOOLS = 2_000


def read_declarations(segment: str) -> Declarations:
    """The tools that a segment declares; none where no name can be read.

    Example:
        >>> dict(read_declarations("read_file(path, lines=3) - reads\\n- grep: searches"))
        {'read_file': ('path', 'lines'), 'grep': ()}
    """
    found: dict[str, tuple[str, ...]] = {}
    text: list[str] = []
    end = 0
    for start, stop, value in _json_values(segment):
        text.append(segment[end:start])
        end = stop
        for name, parameters in _schemas(value):
            found.setdefault(name, parameters)
    rest = "".join([*text, segment[end:]])
    for match in islice(_SIGNATURE.finditer(rest), _MAX_TOOLS):
        found.setdefault(match[1], _parameters(rest, match.end()))
    for name, parameters in islice(_listed(rest), _MAX_TOOLS):
        found.setdefault(name, parameters)
    return dict(islice(found.items(), _MAX_TOOLS))


def _json_values(segment: str) -> Iterator[tuple[int, int, Any]]:
    decoder = json.JSONDecoder()
    end = failures = 0
    for match in _JSON_START.finditer(segment):
        if match.end() < end or failures >= _MAX_FAILURES:
            continue
        try:
            value, end = decoder.raw_decode(segment, match.end())
        except (ValueError, RecursionError):
            failures += 1
            continue
        yield match.end(), end, value


def _schemas(value: Any, depth: int = 0) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The tools in a list of schemas, in `{"tools": [...]}`, or in `{NAME: schema}`."""
    if depth > 4:
        return
    if isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _schemas(each, depth + 1)
    if not isinstance(value, dict):
        return
    schema = cast("dict[str, Any]", value)
    if isinstance(schema.get("function"), dict):
        schema = cast("dict[str, Any]", schema["function"])
    name = schema.get("name", schema.get("title") if "properties" in schema else None)
    if isinstance(name, str) and name:
        yield name, _properties(schema)
        return
    for key, each in schema.items():
        if isinstance(each, list):
            yield from _schemas(each, depth + 1)
        elif isinstance(each, dict) and key not in ("properties", *_SCHEMAS):
            inner = cast("dict[str, Any]", each)
            if any(word in inner for word in ("description", "properties", *_SCHEMAS)):
                yield key, _properties(inner)


def _properties(schema: dict[str, Any]) -> tuple[str, ...]:
    for key in _SCHEMAS:
        inner = schema.get(key)
        if isinstance(inner, dict):
            own = cast("dict[str, Any]", inner)
            properties = own.get("properties", {} if "type" in own else own)
            return tuple(properties) if isinstance(properties, dict) else ()
        if isinstance(inner, list):
            names = [
                each.get("name") for each in cast("list[Any]", inner) if isinstance(each, dict)
            ]
            return tuple(name for name in names if isinstance(name, str))
    properties = schema.get("properties")
    return tuple(cast("dict[str, Any]", properties)) if isinstance(properties, dict) else ()


def _parameters(text: str, start: int) -> tuple[str, ...]:
    """The names between the parentheses of a signature."""
    names: list[str] = []
    depth, begin = 0, start
    for at in range(start, min(len(text), start + 2_000)):
        sign = text[at]
        if (sign == "," and depth == 0) or (sign == ")" and depth == 0):
            name = _PARAMETER.match(text, begin, at)
            if name is not None:
                names.append(name[1])
            begin = at + 1
            if sign == ")":
                break
        depth += (sign in "([{") - (sign in ")]}")
    return tuple(names)


def _listed(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Items of lists: what stands deeper, or beneath a heading that is a name, is a parameter."""
    headings = [each for each in _HEADING.finditer(text) if each[1].lower() not in _WORDS]
    snake = [each for each in headings if "_" in each[1] or "`" in each[0] or each[1].islower()]
    items = [each for each in _ITEM.finditer(text) if each[2].lower() not in _WORDS]
    if snake:
        starts = [each.start() for each in items]
        for heading, end in zip(
            snake, [*(each.start() for each in snake[1:]), len(text)], strict=True
        ):
            own = items[bisect_left(starts, heading.end()) : bisect_left(starts, end)]
            yield heading[1], tuple(each[2] for each in own)
        return
    outer = min((len(each[1].expandtabs()) for each in items), default=0)
    tool, parameters = "", list[str]()
    for each in items:
        if len(each[1].expandtabs()) > outer:
            parameters.append(each[2])
            continue
        if tool:
            yield tool, tuple(parameters)
        tool, parameters = each[2], []
    if tool:
        yield tool, tuple(parameters)
