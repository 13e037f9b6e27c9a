"""`@path` in a question: a file or folder that the planner is to see."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from retrai_core import Workspace, WorkspaceError

from .evidence import Evidence
from .found import Place, normal_path
from .project_files import ProjectFiles

_MENTION = re.compile(r"(?<![\w@])@(?:\"(?P<quoted>[^\"\n]+)\"|(?P<plain>[^\s@\"]+))")
_TRAILING = ".,;:!?)]}'\""
MAX_LINES, MAX_CHARS = 400, 40_000
"""Of a mentioned file; at least one line is shown, cut at the limit."""


def mentioned(question: str, workspace: Workspace) -> Iterator[str]:
    """The project's files and folders that a question mentions; other words with `@` are words."""
    known: set[str] = set()
    for match in _MENTION.finditer(question):
        written = match["quoted"] or match["plain"]
        stripped = written.rstrip(_TRAILING)
        for path in dict.fromkeys(map(normal_path, filter(None, [written, stripped]))):
            try:
                there = workspace.stat(path) is not None
            except WorkspaceError:
                there = False
            if there and path not in known:
                known.add(path)
                yield path
                break


def without_mentions(question: str, paths: Container[str] = ()) -> str:
    """A question without its `@path`s; other words with `@`, as a decorator's name, stay.

    Args:
        question: as it was asked.
        paths: what it mentions; whatever has a `/` counts too.

    Example:
        >>> without_mentions("What does @validates in @src/cart.py do?")
        'What does @validates in do?'
    """

    def kept(match: re.Match[str]) -> str:
        written = match["quoted"] or match["plain"]
        path = written.rstrip(_TRAILING)
        is_path = "/" in written or normal_path(path) in paths or normal_path(written) in paths
        return written[len(path) :] if is_path else match[0]

    return " ".join(_MENTION.sub(kept, question).split())


def missing(question: str, workspace: Workspace) -> list[str]:
    """What a question mentions like a path, with a `/`, and the project does not have."""
    found: list[str] = []
    for match in _MENTION.finditer(question):
        written = match["quoted"] or match["plain"]
        if "/" in written and not any(mentioned(match[0], workspace)):
            found.append(written.rstrip(_TRAILING))
    return found


def _beginning(lines: Sequence[str]) -> Iterator[str]:
    left = MAX_CHARS
    for number, line in enumerate(lines[:MAX_LINES]):
        if number and len(line) > left:
            return
        yield line[:left]
        left -= len(line) + 1


def render_path(path: str, files: ProjectFiles, evidence: Evidence) -> str:
    """The text of a file with line numbers, or the list of a folder; what it shows is evidence."""
    lines = files.lines(path)
    if lines is not None:
        some = list(_beginning(lines))
        width = len(str(len(some)))
        text = "\n".join(f"{n:>{width}}\t{line}" for n, line in enumerate(some, 1))
        if some:
            evidence.add([Place(path, 1, len(some))])
        if len(lines) > len(some):
            text += f"\n[lines 1 to {len(some)} of {len(lines)}]"
        return text or "[the file is empty]"
    try:
        entries = files.workspace.list_folder(path)
    except WorkspaceError as error:
        return f"[{error}]"
    names = [f"{each.path}/" if each.kind == "folder" else each.path for each in entries]
    return "\n".join(names[:MAX_LINES]) or "[the folder is empty]"
