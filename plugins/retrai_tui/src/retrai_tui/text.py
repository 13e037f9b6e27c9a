"""Text for the screen: plain, with control characters written out, whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from retrai_core import RunRecord, visible

STYLES = {
    "achieved": "bold green",
    "answered": "bold green",
    "pending": "cyan",
    "running": "cyan",
    "waiting": "bold yellow",
    "interrupted": "yellow",
    "aborted": "yellow",
}
"""The style of each status; all others are red."""
NOT_ENDED = ("pending", "running", "waiting")
_FIRST_OUTCOMES = ("failed", "error", "passed", "skipped", "xfailed", "xpassed")
_DIFF_STYLES = (("+++", "bold"), ("---", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))


def line_of(text: object, style: str = "") -> Text:
    """One line: line breaks are written out too."""
    # Not as the style of the whole: what is appended has its own.
    return Text(no_wrap=True, end="").append(visible(str(text), keep=""), style)


def first_line(text: str) -> str:
    """The first line that says anything."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def block(text: str, style: str = "") -> Text:
    """Any number of lines."""
    return Text().append(visible(text).expandtabs(4), style)


def diff_block(diff: str, most_lines: int = 5_000, hint: str = "") -> Text:
    """A unified diff in colours; of a very long one the beginning."""
    lines = diff.splitlines()
    shown = Text()
    for line in lines[:most_lines]:
        style = next((style for sign, style in _DIFF_STYLES if line.startswith(sign)), "")
        shown.append(visible(line).expandtabs(4) + "\n", style)
    if len(lines) > most_lines:
        shown.append(f"... {len(lines) - most_lines:,} more lines; {hint}\n", "yellow")
    return shown


def status_text(status: str) -> Text:
    """A status in its colour."""
    return Text(no_wrap=True, end="").append(status, STYLES.get(status, "bold red"))


def seconds(duration_s: float) -> str:
    """`0.4 s`, `2 min 05 s`, `3 h 10 min`."""
    if duration_s < 60:
        return f"{duration_s:.1f} s"
    if duration_s < 3600:
        return f"{int(duration_s // 60)} min {int(duration_s % 60):02d} s"
    return f"{int(duration_s // 3600)} h {int(duration_s % 3600 // 60):02d} min"


def age(since_s: float) -> str:
    """How long ago, in a few letters: `12s`, `5m`, `3h`, `9d`."""
    for unit, letter in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if since_s >= unit:
            return f"{int(since_s // unit)}{letter}"
    return f"{max(0, int(since_s))}s"


def cost(usd: float | None, tokens: int) -> str:
    """The cost, as far as it is known."""
    if tokens == 0:
        return "no cost"
    return "cost not known" if usd is None else f"${usd:,.4f}" if usd < 1 else f"${usd:,.2f}"


def outcomes(counts: Mapping[str, int]) -> str:
    """`2 failed, 18 passed`, failures first."""
    known = [name for name in _FIRST_OUTCOMES if name in counts]
    rest = sorted(set(counts) - set(_FIRST_OUTCOMES))
    return ", ".join(f"{counts[name]} {name}" for name in [*known, *rest])


def names(values: Sequence[str], most: int = 5) -> str:
    """The first of many names."""
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(values[:most]) + more


def goal_of(record: RunRecord) -> str:
    """What a run is about: its goal, or its agent."""
    return record.goal or record.agent
