"""How often a source file tells a linter to look away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

_HASH = r"#\s*(?:noqa|ruff:|flake8:|pylint:\s*(?:disable|skip)|fmt:\s*(?:off|skip)|nosec)"
_SLASHES = (
    r"(?://|/\*|<!--)[\s*]*(?:eslint-disable|eslint\s|eslint-env|tslint:|@ts-(?:ignore|nocheck))"
)
_BY_SUFFIX: Mapping[tuple[str, ...], re.Pattern[str]] = {
    (".py", ".pyi", ".ipynb"): re.compile(_HASH, re.IGNORECASE),
    (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"): re.compile(
        _SLASHES
    ),
    (".rs",): re.compile(r"\b(?:allow|expect)\s*\(\s*[\w:]+(?:\s*,|\s*\))|\bcfg_attr\s*\("),
    (".go",): re.compile(r"//\s*nolint|//\s*#nosec|//\s*lint:"),
    (".sh", ".bash"): re.compile(r"#\s*shellcheck\s+disable"),
    (".rb",): re.compile(r"#\s*rubocop:\s*(?:disable|todo)"),
}


def excuses_in(folder: Path, names: Iterable[str]) -> dict[str, int]:
    """The number of such comments by file, for those that have any.

    Args:
        folder: where the files stand.
        names: the files, relative to `folder`.
    """
    found: dict[str, int] = {}
    for name in names:
        pattern = next((p for suffixes, p in _BY_SUFFIX.items() if name.endswith(suffixes)), None)
        if pattern is None:
            continue
        try:
            text = (folder / name).read_text("utf-8", errors="replace")
        except OSError:
            continue
        if count := len(pattern.findall(text)):
            found[name] = count
    return found
