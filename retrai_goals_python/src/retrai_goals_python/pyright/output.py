"""pyright's JSON report as typed values, and as a text for the model."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from retrai_goal_support import shorten

from ..source_lines import SourceLines

MAX_PER_FILE = 20


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_camel)


class Position(_Part):
    """A place in a file, both counted from 0."""

    line: int
    character: int


class Range(_Part):
    """Where a diagnostic begins and ends."""

    start: Position = Position(line=0, character=0)
    end: Position = Position(line=0, character=0)

    def moved(self, lines: int) -> Range:
        """The same, some lines further down."""
        ends = (self.start, self.end)
        start, end = (Position(line=at.line + lines, character=at.character) for at in ends)
        return Range(start=start, end=end)


class Diagnostic(_Part):
    """One thing that pyright found; `file` is absolute."""

    file: str
    severity: Literal["error", "warning", "information"]
    message: str
    rule: str = ""
    range: Range = Range()

    def moved_to(self, line: int) -> Diagnostic:
        """The same on another line, from 0."""
        there = self.range.moved(line - self.range.start.line)
        return self.model_copy(update={"range": there})


class Summary(_Part):
    """pyright's own counts."""

    files_analyzed: int


class PyrightReport(_Part):
    """What `pyright --outputjson` prints."""

    general_diagnostics: list[Diagnostic]
    summary: Summary


def read_report(stdout: str) -> PyrightReport | None:
    """The report, or None when the output holds none."""
    start = stdout.find("{")
    if start < 0:
        return None
    try:
        return PyrightReport.model_validate_json(stdout[start:])
    except ValidationError:
        return None


def relative_path(file: str, folder: Path) -> str:
    """`file` as it reads from `folder`, with forward slashes; absolute when it lies outside."""
    relative = os.path.relpath(os.path.realpath(file), os.path.realpath(folder))
    return file if relative.startswith("..") else relative.replace(os.sep, "/")


def group_by_file(diagnostics: Iterable[Diagnostic], folder: Path) -> dict[str, list[Diagnostic]]:
    """The diagnostics of each file, by its path as it reads from `folder`."""
    by_file: dict[str, list[Diagnostic]] = {}
    for found in diagnostics:
        by_file.setdefault(relative_path(found.file, folder), []).append(found)
    return by_file


def render_diagnostics(diagnostics: list[Diagnostic], folder: Path, max_chars: int) -> str:
    """The diagnostics for the model: by file, each with its rule and its line of source."""
    files = sorted(group_by_file(diagnostics, folder).items())
    sources = SourceLines(folder)
    parts: list[str] = []
    left = max_chars
    for index, (name, found) in enumerate(files):
        text = _one_file(name, found, sources)
        if parts and len(text) > left - 500:
            parts.append(_rest(files[index:]))
            break
        parts.append(text)
        left -= len(text) + 2
    return shorten("\n\n".join(parts), max_chars)


def _one_file(name: str, diagnostics: list[Diagnostic], sources: SourceLines) -> str:
    lines = [f"{name}: {len(diagnostics)} found"]
    for found in diagnostics[:MAX_PER_FILE]:
        line = found.range.start.line + 1
        rule = f" ({found.rule})" if found.rule else ""
        place = f"{line}:{found.range.start.character + 1}"
        lines.append(f"  {place} {found.severity}: {found.message.replace(chr(10), ' ')}{rule}")
        if source := sources.line(name, line):
            lines.append(f"      {source.strip()}")
    if len(diagnostics) > MAX_PER_FILE:
        lines.append(f"  ... and {len(diagnostics) - MAX_PER_FILE} more in this file")
    return "\n".join(lines)


def _rest(files: list[tuple[str, list[Diagnostic]]]) -> str:
    shown = [f"{name} ({len(found)})" for name, found in files[:20]]
    more = f" and {len(files) - 20} more files" if len(files) > 20 else ""
    return f"Also in: {', '.join(shown)}{more}"
