"""How a run ended, with the evidence, in a few lines."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rich.text import Text

from ...contracts.record import GoalRecord, RunRecord
from ..output import visible_name
from .words import cost, count, one_line, outcome_counts, seconds

STYLE_OF = {
    "answered": "bold green",
    "achieved": "bold green",
    "running": "cyan",
    "pending": "cyan",
    "interrupted": "yellow",
    "aborted": "yellow",
}
_LABEL_WIDTH = 10
_SHOWN_PATHS = 20


def outcome_style(status: str) -> str:
    """The colour of an outcome."""
    return STYLE_OF.get(status, "bold red")


def head_line(record: RunRecord) -> Text:
    """What is about to be run: the run's id, its goal (or its agent), its model, its project."""
    line = Text.assemble(
        ("run ", "dim"), record.id, (": ", "dim"), (record.goal or record.agent, "bold")
    )
    line.append(" with ", "dim").append(one_line(record.model, 60), "bold")
    return line.append(" in ", "dim").append(one_line(str(record.project), 300))


def summary_lines(record: RunRecord) -> list[Text]:
    """The outcome, the evidence before and after, what changed, what it took, what to do next."""
    head = Text.assemble((record.status, outcome_style(record.status)))
    if record.reason:
        head.append(f": {one_line(record.reason, 300)}")
    lines = [head]
    # Every line by itself, since what a model wrote must not steer the terminal.
    lines += [Text(f"  {visible_name(line)}") for line in record.output.splitlines()]
    for goal in record.goals:
        lines += _evidence_lines(goal, record.reason)
    if record.changed_files:
        lines.append(_row("changed", _first(record.changed_files)))
    lines += [_row("refused", one_line(refused, 300)) for refused in record.refused]
    lines += [_row("look at", one_line(finding, 300)) for finding in record.findings]
    lines += [_row("flaky", one_line(case, 300)) for goal in record.goals for case in goal.flaky]
    lines.append(_row("used", _used(record)))
    if record.sandboxes:
        lines.append(_row("sandbox", ", ".join(record.sandboxes)))
    if record.saved_iterations:
        lines.append(_row("saved", _saved(record)))
    if record.artifacts:
        lines.append(_row("artifacts", ", ".join(record.artifacts)))
    lines.append(_row("run", record.id))
    lines += _hand_over_lines(record)
    if record.next_step:
        lines.append(_row("next", record.next_step))
    return lines


def _hand_over_lines(record: RunRecord) -> list[Text]:
    """What the run leaves to whoever goes on, indented."""
    left = record.hand_over
    if left is None:
        return []
    author = "by the model" if left.by == "model" else "by rule"
    text = [Text(f"    {visible_name(line)}") for line in left.text.splitlines()]
    is_new = left.command not in record.next_step
    command = [_row("go on", left.command)] if left.command and is_new else []
    return [_row("hand-over", author), *text, *command]


def _evidence_lines(goal: GoalRecord, reason: str) -> list[Text]:
    """What the first and the last check found."""
    lines: list[Text] = []
    if goal.before is not None:
        lines.append(_row("before", outcome_counts(goal.before.counts) or goal.before.reason))
    if goal.after is not None:
        after = outcome_counts(goal.after.counts) or goal.after.reason
        if "error" in goal.after.counts and goal.after.reason not in reason:
            after = f"{after}: {one_line(goal.after.reason, 300)}"  # with the place
        lines.append(_row("after", after))
        if goal.after.command:
            lines.append(_row("checked", one_line(shlex.join(goal.after.command), 300)))
    return lines


def _first(paths: Sequence[str]) -> str:
    """The first of many paths; the record and the diff have them all."""
    shown = ", ".join(one_line(visible_name(path), 300) for path in paths[:_SHOWN_PATHS])
    left = len(paths) - _SHOWN_PATHS
    return f"{shown} and {left:,} more" if left > 0 else shown


def _used(record: RunRecord) -> str:
    parts = [count(record.iterations, "iteration")]
    if record.started_at is not None and record.ended_at is not None:
        parts.append(seconds(record.worked_s or record.ended_at - record.started_at))
    parts.append(count(record.tokens.total, "token"))
    parts.append(cost(record.cost_usd, record.tokens.total))
    return ", ".join(parts)


def _saved(record: RunRecord) -> str:
    """What ending early was worth, at the rate of the last iterations."""
    tokens = count(record.saved_tokens, "token")
    return f"about {tokens}, by not making {count(record.saved_iterations, 'more iteration')}"


def _row(label: str, value: str) -> Text:
    return Text.assemble((f"  {label:<{_LABEL_WIDTH}}", "dim"), visible_name(value))
