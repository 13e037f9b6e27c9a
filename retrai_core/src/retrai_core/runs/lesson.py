"""What the memory store can learn from a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..contracts.memory import RunOutcome
from ..contracts.record import RunRecord, Status

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage

MAX_NOTE_CHARS = 300


def lesson_of(record: RunRecord, outcome: Status, messages: Sequence[AnyMessage]) -> RunOutcome:
    """The lesson of a run that has ended.

    Args:
        record: with the files that the run changed.
        outcome: how it ended; the record does not say so yet.
        messages: the conversation, for the tools that were used and the model's last words.
    """
    before = record.evidence.before
    answers = [message for message in messages if message.type == "ai"]
    tools = [call["name"] for answer in answers for call in answer.tool_calls]
    said = (" ".join(answer.text.split()) for answer in reversed(answers))
    return RunOutcome(
        goal=record.goal,
        project=record.project,
        outcome=outcome,
        failure=before.reason if before else "",
        changed_files=record.changed_files,
        tools_used=list(dict.fromkeys(tools)),
        notes=next(filter(None, said), "")[:MAX_NOTE_CHARS],
    )
