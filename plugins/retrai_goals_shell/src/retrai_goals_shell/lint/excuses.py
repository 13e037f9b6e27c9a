"""How often a source file tells a linter to look away."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from retrai_goal_support import text_of

_OF_RUFF = r"noqa|ruff:|flake8:|isort:"
RUFF_COMMENT = re.compile(rf"#\s*(?:{_OF_RUFF})", re.IGNORECASE)
"""A comment that ruff reads."""
_HASH = (
    rf"#\s*(?:{_OF_RUFF}|pylint:\s*(?:disable|skip)|fmt:\s*(?:off|skip)|nosec"
    r"|type:\s*ignore|mypy:|pyright:)"
)
_SLASHES = (
    r"(?://|/\*|<!--)[\s*]*"
    r"(?:eslint-disable|eslint\s|eslint-env|globals?\s|exported\s|tslint:|@ts-(?:ignore|nocheck))"
)
_WHOLE_FILE = re.compile(
    r"#\s*(?:ruff|flake8):\s*noqa|#\s*isort:\s*skip_file|#\s*mypy:\s*ignore-errors"
    r"|/\*\s*eslint-disable(?!-)|#!\[|Code generated|go:build|@ts-nocheck",
    re.IGNORECASE,
)
_EVERY_RULE = re.compile(
    r"#\s*noqa\s*(?!\s*:)(?:$|#)|#\s*type:\s*ignore\s*(?:$|#)"
    r"|eslint-disable-(?:next-)?line\s*(?:$|\*/)|//\s*nolint\s*$",
    re.IGNORECASE,
)
_LINE_BREAK = re.compile(r"\r\n?|\n")
WHOLE_FILE, EVERY_RULE = 100, 10
"""So many comments for one rule in one line does a broader comment count as."""
_BY_SUFFIX: Mapping[tuple[str, ...], re.Pattern[str]] = {
    (".py", ".pyi", ".ipynb"): re.compile(_HASH, re.IGNORECASE),
    (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"): re.compile(
        _SLASHES
    ),
    (".rs",): re.compile(r"#!?\[\s*(?:cfg_attr\b|(?:allow|expect)\s*\()"),
    (".go",): re.compile(
        r"//\s*nolint|//\s*#nosec|//\s*lint:|//\s*Code generated .* DO NOT EDIT|//go:build\s+ignore"
    ),
    (".sh", ".bash"): re.compile(r"#\s*shellcheck\s+disable"),
    (".rb",): re.compile(r"#\s*rubocop:\s*(?:disable|todo)"),
}


def excuses_in(
    folder: Path,
    names: Iterable[str],
    comments: re.Pattern[str] | None = None,
    unused: Collection[tuple[str, int]] = (),
) -> dict[str, int]:
    """The number of such comments by file, for those that have any; broader ones count more.

    Args:
        folder: where the files stand.
        names: the files, relative to `folder`.
        comments: what counts as one; by default what any linter for the file's language reads.
        unused: files and lines with a comment that hides nothing. It does not count, unless its
            line has another one.
    """
    found: dict[str, int] = {}
    for name in names:
        usual = (each for suffixes, each in _BY_SUFFIX.items() if name.endswith(suffixes))
        pattern = comments or next(usual, None)
        if pattern is None:
            continue
        count = 0
        for number, line in enumerate(_LINE_BREAK.split(text_of(folder / name)), 1):
            times = len(pattern.findall(line))
            if times > 1 or (name, number) not in unused:
                count += times and _weight(line)
        if count:
            found[name] = count
    return found


def _weight(line: str) -> int:
    if _WHOLE_FILE.search(line):
        return WHOLE_FILE
    return EVERY_RULE if _EVERY_RULE.search(line) else 1
