"""Evaluates the `.gitignore` files of a tree like git; works without git."""

from __future__ import annotations

from collections.abc import Mapping

from pathspec import GitIgnoreSpec

from .beneath import open_file

MAX_RULES_BYTES = 1_000_000


class FolderRules:
    """The rules of one `.gitignore`, and those of the folders above it.

    Args:
        base: the folder it stands in, relative to the root; empty for the root itself.
        text: what the file says.
        above: the rules that hold where these say nothing.
    """

    def __init__(self, base: str, text: str, above: FolderRules | None) -> None:
        self.text = text
        self.above = above
        self._prefix = len(base) + 1 if base else 0
        self._spec = _spec(text)
        self._answers: dict[str, bool] = {}

    def ignores(self, path: str) -> bool:
        """Whether `path` is ignored; a folder's path ends in `/`.

        The nearest `.gitignore` that says anything decides, and in it the last rule that fits. That
        a file below an ignored folder is ignored too is for the caller, who does not go there.
        """
        known = self._answers.get(path)
        if known is None:
            known = self._answers[path] = self._decide(path)
        return known

    def _decide(self, path: str) -> bool:
        include = self._spec.check_file(path[self._prefix :]).include
        if include is not None:
            return include
        return self.above.ignores(path) if self.above is not None else False


class RulesReader:
    """Reads `.gitignore` files, and caches their rules while they stay unchanged.

    Args:
        fixed: what the files said at an earlier time, by their folder; the files themselves are
            not read then.
    """

    def __init__(self, fixed: Mapping[str, str] | None = None) -> None:
        self._known: dict[str, FolderRules] = {}
        self._fixed = fixed

    def read(self, folder: int, base: str, above: FolderRules | None) -> FolderRules | None:
        """The rules that hold in a folder.

        Args:
            folder: its file descriptor.
            base: its path relative to the root; empty for the root.
            above: the rules of the folder above it.
        """
        text = _text(folder) if self._fixed is None else self._fixed.get(base, "")
        if not text:
            return above
        rules = self._known.get(base)
        if rules is None or rules.text != text or rules.above is not above:
            rules = self._known[base] = FolderRules(base, text, above)
        return rules


def _text(folder: int) -> str:
    try:
        with open_file(folder, ".gitignore") as file:
            data = file.read(MAX_RULES_BYTES)
    except OSError:
        return ""  # none, or a symlink or unreadable: git leaves those out as well
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")


def _spec(text: str) -> GitIgnoreSpec:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return GitIgnoreSpec.from_lines(line for line in lines if _is_valid(line))


def _is_valid(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
