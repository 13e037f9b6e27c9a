"""Replaces secrets in texts with a mark that names the kind of secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from ..events import AgentEvent
from .patterns import LINE_PATTERNS, PATTERNS, Pattern
from .project_secrets import ProjectSecrets

_MARK = re.compile(r"\[redacted: ([^\]\n]{1,100})\]")
_DIGIT = re.compile(r"\d")
_LINE_NEEDLES = sorted({needle for pattern in LINE_PATTERNS for needle in pattern.needles})
_NAMES = frozenset(pattern.name for pattern in (*PATTERNS, *LINE_PATTERNS))
_WHOLE_WORDS_BELOW = 8
"""A literal shorter than this is taken only where it stands alone: it may be part of a word."""


class Redactor:
    """Knows the secrets of one run.

    It removes what looks like a secret (`patterns`), and the values in the project's `.env` files,
    its key files and the environment (`secrets`). Redacting a text twice changes nothing the second
    time. It may be used from several threads.

    Args:
        secrets: reads the project's values; only patterns are known when it is left out.

    Example:
        >>> Redactor().text("found AKIAIOSFODNN7EXAMPLE here")
        'found [redacted: AWS key] here'
    """

    def __init__(self, secrets: ProjectSecrets | None = None) -> None:
        self._secrets = secrets
        self._hidden: dict[str, str] = {}
        self._known: list[tuple[str, str, re.Pattern[str] | None]] = []
        self.refresh()

    @classmethod
    def of(cls, project: Path, environ: Mapping[str, str]) -> Redactor:
        """The redactor of a run in `project`."""
        return cls(ProjectSecrets(project, environ))

    def refresh(self) -> None:
        """Read again what may have changed: a tool may have written an `.env` meanwhile."""
        if self._secrets is not None and self._secrets.refresh():
            self._know()

    def hide(self, values: Iterable[str], name: str) -> None:
        """Take these words out too, from now on, where they stand alone: names, not secrets.

        Args:
            values: the words.
            name: stands in their mark.
        """
        self._hidden |= dict.fromkeys(values, name)
        self._know()

    def _know(self) -> None:
        secrets = self._secrets.values if self._secrets is not None else {}
        # The longest first: one secret may be the beginning of another.
        ordered = sorted({**self._hidden, **secrets}.items(), key=lambda item: -len(item[0]))
        self._known = [
            (value, _mark(name), _alone(value, always=value in self._hidden))
            for value, name in ordered
        ]

    def text(self, text: str) -> str:
        """The text without secrets."""
        for value, mark, alone in self._known:
            if value in text:
                text = text.replace(value, mark) if alone is None else alone.sub(mark, text)
        for pattern in PATTERNS:
            if any(needle in text for needle in pattern.needles):
                text = _without(pattern, text)
        lower = text.lower()
        if not any(needle in lower for needle in _LINE_NEEDLES):
            return text
        # Not `splitlines`, which knows more ends of a line than there are.
        return "\n".join(map(_redacted_line, text.split("\n")))

    def value(self, value: object) -> object:
        """The JSON value with every text in it redacted; keys stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            mapping = cast("Mapping[object, object]", value)
            return {key: self.value(item) for key, item in mapping.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in cast("list[object]", value)]
        return value

    def event(self, event: AgentEvent) -> AgentEvent:
        """The event with its payload redacted."""
        return replace(event, payload=cast("Mapping[str, object]", self.value(event.payload)))

    def mark_in(self, value: object) -> str | None:
        """The first of this redactor's marks in a JSON value: whoever writes it means a secret."""
        if isinstance(value, str):
            names = _NAMES | set(self._hidden.values())
            if self._secrets is not None:
                names = names | set(self._secrets.values.values())
            found = (match for match in _MARK.finditer(value) if match[1] in names)
            return next((match[0] for match in found), None)
        items: list[object] = []
        if isinstance(value, Mapping):
            items = list(cast("Mapping[object, object]", value).values())
        elif isinstance(value, (list, tuple)):
            items = list(cast("list[object]", value))
        return next((mark for item in items if (mark := self.mark_in(item))), None)


def _redacted_line(line: str) -> str:
    if _DIGIT.search(line) is None:
        return line  # nothing in it looks like a secret, whatever its name
    lower = line.lower()
    if not any(needle in lower for needle in _LINE_NEEDLES):
        return line
    for pattern in LINE_PATTERNS:
        if any(needle in lower for needle in pattern.needles):
            line = _without(pattern, line)
    return line


def _mark(name: str) -> str:
    return f"[redacted: {name}]"


def _alone(value: str, *, always: bool) -> re.Pattern[str] | None:
    if len(value) >= _WHOLE_WORDS_BELOW and not always:
        return None
    letters = r"\w" if always else "[A-Za-z0-9]"
    return re.compile(rf"(?<!{letters}){re.escape(value)}(?!{letters})")


def _without(pattern: Pattern, text: str) -> str:
    def marked(match: re.Match[str]) -> str:
        group = "secret" if "secret" in pattern.regex.groupindex else 0
        secret = match[group]
        if pattern.accept is not None and not pattern.accept(secret):
            return match[0]
        start, end = (at - match.start() for at in match.span(group))
        return match[0][:start] + _mark(pattern.name) + match[0][end:]

    return pattern.regex.sub(marked, text)
