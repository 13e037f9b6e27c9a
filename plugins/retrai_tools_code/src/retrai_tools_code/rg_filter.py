"""Let ripgrep leave out the files that cannot match, so that Python reads the others only.

Python decides what matches; ripgrep only has to find no less. Its pattern is therefore a weaker
form of Python's: literals and structure stay, anchors fall away, and whatever the two engines may
see differently (classes, `\\w`, case folding beyond ASCII, bytes that are no UTF-8) becomes "any
character". With ripgrep and without it the results are the same by construction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from retrai_core import Limits, Sandbox, ToolError

# One character as Python sees it, also one that stands for broken bytes, as bytes.
ANY = r"(?:(?-u:[^\n]){1,4})"
NOTHING = "(?:)"
BATCH_BYTES = 100_000
"""Bytes of file names in one call; Linux allows 2 MB for all arguments."""

_QUANTIFIER = re.compile(r"([*+?]|\{(\d*)(,?)(\d*)\})[?+]?")
_UNSAFE_GROUP = re.compile(r"\(\?(?!:)")
_MOST_REPEATS = 100
_WEAKER = {"(": "(?:", ")": ")", "|": "|", "^": NOTHING, "$": NOTHING, ".": ANY}
_WEAKER_ESCAPES = {**dict.fromkeys("wWdDsS", ANY), **dict.fromkeys("bB", NOTHING)}
# What Python's case folding takes for these letters beyond upper and lower case.
_FOLDED = {"i": "\u0130\u0131", "k": "\u212a", "s": "\u017f"}


def weaker_pattern(pattern: str, *, ignore_case: bool) -> str | None:
    r"""A ripgrep pattern that is found in every line in which Python finds `pattern`.

    None when there is none that would help: the pattern uses what ripgrep lacks, or nothing in it
    is a literal. `pattern` must be valid for Python.

    Example:
        >>> weaker_pattern(r"^foo\.bar", ignore_case=False)
        '(?:)foo\\x{2E}bar'
    """
    if _UNSAFE_GROUP.search(pattern) or "\n" in pattern:
        return None
    parts: list[str] = []
    literals = 0
    index = 0
    while index < len(pattern):
        quantifier = _QUANTIFIER.match(pattern, index)
        if quantifier is not None and quantifier.group(1) not in ("{}", "{,}"):
            repeat = _repeat(quantifier)
            if repeat is None:
                return None
            parts.append(repeat)
            index = quantifier.end()
            continue
        piece, length = _piece(pattern, index, ignore_case)
        if piece is None:
            return None
        literals += piece not in (ANY, NOTHING, "(?:", ")", "|")
        parts.append(piece)
        index += length
    return "".join(parts) if literals else None


def _repeat(found: re.Match[str]) -> str | None:
    """A quantifier without `?` or `+` behind it, which only say how to look; None if too large."""
    text, low, comma, high = found.groups()
    if not text.startswith("{"):
        return text
    if max(int(low or 0), int(high or 0)) > _MOST_REPEATS:
        return None
    return f"{{{low or 0}{comma}{high}}}"


def _piece(pattern: str, index: int, ignore_case: bool) -> tuple[str | None, int]:
    """The weaker form of the element at `index`, None when there is none, and its length."""
    char = pattern[index]
    if pattern.startswith("(?:", index):
        return "(?:", 3
    if char == "[":
        return ANY, _class_length(pattern, index)
    if char in _WEAKER:
        return _WEAKER[char], 1
    if char != "\\":
        return _literal(char, ignore_case), 1
    escaped = pattern[index + 1]
    if escaped.isalnum():
        # Else it is a back reference, `\A`, `\n`, `\x41`: rare.
        return _WEAKER_ESCAPES.get(escaped), 2
    return _literal(escaped, ignore_case), 2


def _class_length(pattern: str, start: int) -> int:
    """How long the `[...]` at `start` is; a `]` that comes first stands for itself."""
    index = start + 1
    if pattern[index] == "^":
        index += 1
    index += 1 if pattern[index] != "\\" else 2
    while pattern[index] != "]":
        index += 2 if pattern[index] == "\\" else 1
    return index + 1 - start


def _literal(char: str, ignore_case: bool) -> str:
    if char == "\ufffd":  # what broken bytes are read as
        return ANY
    if not char.isascii():
        return ANY if ignore_case else char
    if not char.isalnum():
        return f"\\x{{{ord(char):X}}}"
    if ignore_case and char.isalpha():
        return f"[{char.lower()}{char.upper()}{_FOLDED.get(char.lower(), '')}]"
    return char


async def files_with(
    pattern: str, paths: Sequence[str], sandbox: Sandbox, timeout_s: float
) -> list[str] | None:
    """Those of `paths` in which ripgrep finds `pattern`, in their order; None without ripgrep.

    Names that are no UTF-8, and all names when ripgrep itself has a problem, are kept.
    """
    kept: list[str] = []
    for batch in _batches(paths):
        named = [path for path in batch if path.isprintable()]
        # `none`: the bytes as they are; `--text`: Python tells binary files.
        options = ("--no-config", "--files-with-matches", "--null", "--text", "--encoding=none")
        try:
            done = await sandbox.run(
                ["rg", *options, "--no-messages", "--color=never", "-e", pattern, "--", *named],
                timeout_s=timeout_s,
                limits=Limits(output_bytes=8 * BATCH_BYTES),
            )
        except ToolError:
            return None
        if done.exit_code not in (0, 1):
            kept += batch
            continue
        found = set(done.stdout.split("\0"))
        kept += [path for path in batch if path in found or not path.isprintable()]
    return kept


def _batches(paths: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for path in paths:
        size += len(path.encode("utf-8", "replace")) + 1
        if size > BATCH_BYTES and batch:
            yield batch
            batch, size = [], 0
        batch.append(path)
    if batch:
        yield batch
