"""Formats numbers, names and untrusted text as short, safe words for one line."""

from __future__ import annotations

from collections.abc import Mapping

from ..output import visible_name

ELLIPSIS = "..."


def one_line(text: str, width: int) -> str:
    """The first line of `text` that says anything, at most `width` characters of it.

    Control characters are written out: what a model or a test wrote must not steer the terminal.
    """
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    safe = visible_name(first)
    return safe if len(safe) <= width else safe[: max(0, width - len(ELLIPSIS))] + ELLIPSIS


def seconds(duration_s: float) -> str:
    """`0.4 s`, `12.3 s`, `2 min 05 s`."""
    if duration_s < 60:
        return f"{duration_s:.1f} s"
    return f"{int(duration_s // 60)} min {int(duration_s % 60):02d} s"


def count(number: int, noun: str) -> str:
    """`1 iteration`, `12,000 tokens`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def cost(usd: float | None, tokens: int) -> str:
    """The cost in US dollars, as far as it is known."""
    if tokens == 0:
        return "no cost"
    if usd is None:
        return "cost not known"
    return f"${usd:.4f}" if usd < 1 else f"${usd:,.2f}"


def outcome_counts(counts: Mapping[str, int]) -> str:
    """`2 failed, 18 passed`, failures first."""
    order = ["failed", "error", "passed", "skipped", "xfailed", "xpassed"]
    known = [name for name in order if name in counts]
    rest = sorted(set(counts) - set(order))
    return ", ".join(f"{counts[name]} {name}" for name in [*known, *rest])
