"""`@path` in a question: a file or folder that the planner is to see."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from pathlib import PurePosixPath

from retrai_core import Workspace, WorkspaceError

from .evidence import Evidence
from .found import Place, normal_path
from .project_files import ProjectFiles

_MENTION = re.compile(r"(?<![\w@])@(?:\"(?P<quoted>[^\"\n]+)\"|(?P<plain>[^\s@\"]+))")
_TRAILING = ".,;:!?)]}'\""
_SUFFIXES = frozenset(
    """
    .c .cc .cfg .cpp .css .go .h .hpp .html .ini .java .js .json .jsx .md .py .pyi .rs .rst .sh
    .toml .ts .tsx .txt .yaml .yml
    """.split()  # noqa: SIM905 - as a list it would be thirty lines
)
"""Of what is taken for a file although it has no `/`: a decorator may be written `@app.route`."""
MAX_LINES, MAX_CHARS = 400, 40_000
"""Of a mentioned file; at least one line is shown, cut at the limit."""


def mentioned(question: str, workspace: Workspace) -> Iterator[str]:
    """The project's files and folders that a question mentions; other words with `@` are words."""
    known: set[str] = set()
    for match in _MENTION.finditer(question):
        written = match["quoted"] or match["plain"]
        stripped = written.rstrip(_TRAILING)
        root = f"{workspace.root}/"  # a whole path may be typed
        for each in dict.fromkeys(filter(None, [written, stripped])):
            path = normal_path(each.removeprefix(root))
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
        paths: what it mentions; whatever looks like a path counts too.

    Example:
        >>> without_mentions("What does @validates in @src/cart.py do?")
        'What does @validates in do?'
    """

    def kept(match: re.Match[str]) -> str:
        written = match["quoted"] or match["plain"]
        path = written.rstrip(_TRAILING)
        is_path = (
            is_like_a_path(path) or normal_path(path) in paths or normal_path(written) in paths
        )
        return "" if is_path else match[0]

    return " ".join(_MENTION.sub(kept, question).split())


def is_like_a_path(written: str) -> bool:
    """Whether it has a `/`, or ends like a file that most projects have."""
    return "/" in written or PurePosixPath(written).suffix.lower() in _SUFFIXES


def not_there(path: str) -> str:
    """What is said of a mentioned path that the project does not have."""
    return f"@{path}: the project has no such file or folder"


def missing(question: str, workspace: Workspace) -> list[str]:
    """What a question mentions like a path, and the project does not have."""
    found: list[str] = []
    for match in _MENTION.finditer(question):
        written = match["quoted"] or match["plain"]
        path = written.rstrip(_TRAILING)
        if is_like_a_path(path) and not any(mentioned(match[0], workspace)):
            found.append(path)
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
