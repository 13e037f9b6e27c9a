"""The failures of a run as one text for the model: the first ones in full, each error once."""

from __future__ import annotations

from retrai_goal_support import shorten

from .pytest_run import Failure, PytestRun

MAX_NAMES = 40


def render_failures(run: PytestRun, max_chars: int = 16_000, max_full: int = 10) -> str:
    """What failed, for the model.

    Cases that fail with the same message at the same place are told once, with the names of the
    others. At most `max_full` errors are given in full, as far as `max_chars` reaches; of the rest
    only names and first lines.

    Args:
        run: the run.
        max_chars: the longest text, in characters.
        max_full: how many different errors are given in full.
    """
    groups = _grouped(run.failures)
    parts: list[str] = []
    if run.problem:
        parts.append(f"The run is not complete: {run.problem}")
        if run.output_tail and not run.failures:
            parts.append(f"The end of its output:\n{shorten(run.output_tail, max_chars // 2)}")
    left = max_chars - sum(map(len, parts))
    shown = 0
    for group in groups[:max_full]:
        text = _in_full(group)
        if len(text) > left - 400 and shown:
            break
        text = shorten(text, max(left - 400, 200))
        parts.append(text)
        left -= len(text) + 2
        shown += 1
    if groups[shown:]:
        parts.append(_names_only(groups[shown:], left))
    return shorten("\n\n".join(parts), max_chars)


def _grouped(failures: tuple[Failure, ...]) -> list[list[Failure]]:
    groups: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        # A module that is missing is missing everywhere; an assertion belongs to its place.
        place = "" if failure.outcome == "error" and failure.message else failure.location
        groups.setdefault((place, failure.message), []).append(failure)
    # What keeps other tests from running comes first.
    return sorted(groups.values(), key=lambda group: group[0].outcome != "error")


def _in_full(group: list[Failure]) -> str:
    first, *others = group
    text = f"{first.outcome.upper()} {first.id}\n{first.text}"
    if others:
        names = ", ".join(failure.id for failure in others[:5])
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        text += f"\nThe same error in {len(others)} more: {names}{more}"
    return text


def _names_only(groups: list[list[Failure]], room: int) -> str:
    failures = [failure for group in groups for failure in group]
    lines = [f"{len(failures)} more failing:"]
    for failure in failures[:MAX_NAMES]:
        said = failure.message.partition("\n")[0]
        line = f"- {failure.id}: {shorten(said, 120)}"
        if sum(map(len, lines)) + len(line) > max(room - 100, 200):
            break
        lines.append(line)
    named = len(lines) - 1
    if named < len(failures):
        lines.append(f"- ... and {len(failures) - named} more")
    return "\n".join(lines)
