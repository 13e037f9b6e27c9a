"""Glob patterns for paths, as find_files and grep_search take them."""

from __future__ import annotations

import re
from collections.abc import Callable

from retrai_core import ToolError


def glob_matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a path fits a pattern.

    `*` and `?` stay within one name, `**` crosses folders, `[abc]` and `[!abc]` are one character,
    `{py,toml}` is a choice. A pattern without a slash is compared with the name alone, wherever the
    file stands.

    Raises:
        ToolError: the pattern is empty or a bracket in it is not closed.

    Example:
        >>> fits = glob_matcher("src/**/*.py")
        >>> fits("src/a.py"), fits("src/b/c.py"), fits("a.py")
        (True, True, False)
    """
    wanted = pattern.removeprefix("./")
    if not wanted:
        raise ToolError("the glob pattern is empty", hint="`**` fits every file")
    if wanted.endswith("/"):
        wanted += "**"
    compiled = re.compile(_translated(wanted))
    if "/" in wanted or wanted == "**":
        return lambda path: compiled.fullmatch(path) is not None
    return lambda path: compiled.fullmatch(path.rsplit("/", 1)[-1]) is not None


def _translated(pattern: str) -> str:
    parts: list[str] = []
    depth = 0
    index = 0
    while index < len(pattern):
        rest = pattern[index:]
        step = 1
        if rest.startswith("**/"):
            parts.append("(?:[^/]+/)*")
            step = 3
        elif rest.startswith("**"):
            parts.append(".*")
            step = 2
        elif rest[0] == "*":
            parts.append("[^/]*")
        elif rest[0] == "?":
            parts.append("[^/]")
        elif rest[0] == "[":
            text, step = _character_class(pattern, index)
            parts.append(text)
        elif rest[0] == "{":
            parts.append("(?:")
            depth += 1
        elif rest[0] == "}" and depth:
            parts.append(")")
            depth -= 1
        elif rest[0] == "," and depth:
            parts.append("|")
        elif rest[0] == "\\" and len(rest) > 1:
            parts.append(re.escape(rest[1]))
            step = 2
        else:
            parts.append(re.escape(rest[0]))
        index += step
    if depth:
        raise ToolError(f"the glob pattern {pattern!r} has a `{{` that is not closed")
    return "(?s:" + "".join(parts) + ")"


def _character_class(pattern: str, start: int) -> tuple[str, int]:
    """`[...]` at `start` as a regular expression, and how long it is."""
    # A `]` that comes first stands for itself.
    first = start + 2 if pattern[start + 1 : start + 2] in ("!", "^") else start + 1
    end = pattern.find("]", first + 1)
    if end < 0:
        raise ToolError(f"the glob pattern {pattern!r} has a `[` that is not closed")
    negated = "^/" if first == start + 2 else ""
    inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", pattern[first:end])
    text = f"[{negated}{inside}]"
    try:
        re.compile(text)
    except re.error:
        raise ToolError(f"the glob pattern {pattern!r} has a bad range in `[...]`") from None
    return text, end - start + 1
