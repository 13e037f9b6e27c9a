"""What the first prompt shows of a project: its key files and an outline of its tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..contracts.workspace import Workspace
from ..errors import WorkspaceError

KEY_FILES = (
    "AGENTS.md",
    "CLAUDE.md",
    "pyproject.toml",
    "setup.cfg",
    "pytest.ini",
    "tox.ini",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "Makefile",
)
"""The most telling first; the README comes last, for it is the longest."""

CHARS_PER_TOKEN = 4
"""Common for English and source code; the real number is the model's affair."""

CUT_NOTE = "\n[... {left} more characters]"


def project_outline(workspace: Workspace, max_tokens: int) -> tuple[str, list[tuple[str, str]]]:
    """The tree and the key files as (path, text), together at most about `max_tokens` tokens.

    The tree takes at most a third, so that what people wrote for an agent to read has room.
    """
    chars = max_tokens * CHARS_PER_TOKEN
    listing = tree_listing(workspace, max_chars=chars // 3)
    return listing, key_files(workspace, chars - len(listing))


def key_files(workspace: Workspace, max_chars: int = 12_000) -> list[tuple[str, str]]:
    """The project's key files as (path, text), at most `max_chars` characters of text in all.

    No file takes more than half of what is left, unless it is the last, so that a long one does not
    hide the others; what is cut is said in its text.
    """
    names = {entry.path for entry in workspace.list_folder(".") if entry.kind != "folder"}
    chosen = [name for name in KEY_FILES if name in names]
    chosen += sorted(name for name in names if name.upper().startswith("README"))
    shown: list[tuple[str, str]] = []
    left = max_chars
    for index, name in enumerate(chosen):
        share = left if index == len(chosen) - 1 else left // 2
        text = _text(workspace, name)
        if text is None or share <= len(CUT_NOTE):
            continue
        if len(text) > share:
            kept = share - len(CUT_NOTE) - len(str(len(text)))
            text = text[:kept] + CUT_NOTE.format(left=len(text) - kept)
        left -= len(text)
        shown.append((name, text))
    return shown


def _text(workspace: Workspace, path: str) -> str | None:
    try:
        data = workspace.read_bytes(path, 1_000_000)
    except WorkspaceError:
        return None  # a symlink that leads outside, or unreadable: the prompt does without it
    if not data.strip() or b"\0" in data:
        return None
    return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def tree_listing(workspace: Workspace, max_entries: int = 200, max_chars: int = 20_000) -> str:
    """The project's files, one a line and indented by folder, in at most `max_entries` lines.

    A large tree is shown down to the depth that fits; a folder that is not opened says how many
    files it holds. What git ignores is left out.
    """
    files = [entry.path for entry in workspace.walk(".")]
    deepest = max((path.count("/") for path in files), default=0)
    lines: list[str] = []
    for depth in range(deepest + 1):
        deeper = _outline(files, depth)
        if depth and (len(deeper) > max_entries or _length(deeper) > max_chars):
            break
        lines = deeper
    kept = min(len(lines), max_entries)
    while kept > 1 and _length(lines[:kept]) > max_chars:
        kept = kept * 9 // 10
    if kept < len(lines):
        hidden = len(lines) - kept + 1
        lines = [*lines[: kept - 1], f"... and {hidden} more entries"]
    return "\n".join(lines)


def _length(lines: list[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _outline(paths: Iterable[str], depth: int) -> list[str]:
    """One line a file or folder; folders below `depth` are closed and say how much they hold.

    Args:
        paths: in the order of a walk.
        depth: how many folders deep the outline goes.
    """
    shown: dict[tuple[str, ...], int] = {}
    for path in paths:
        *folders, name = path.split("/")
        for level in range(1, min(len(folders), depth) + 1):
            shown.setdefault((*folders[:level], ""), 0)
        if len(folders) <= depth:
            shown[*folders, name] = 0
        else:
            closed = (*folders[: depth + 1], "")
            shown[closed] = shown.get(closed, 0) + 1
    return [_line(parts, count) for parts, count in shown.items()]


def _line(parts: Sequence[str], count: int) -> str:
    """The line of a file; of a folder, whose last part is empty, with the files it hides."""
    if parts[-1]:
        return f"{'  ' * (len(parts) - 1)}{parts[-1]}"
    files = f" ({count} files)" if count else ""
    return f"{'  ' * (len(parts) - 2)}{parts[-2]}/{files}"
