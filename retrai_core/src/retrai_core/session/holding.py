"""Holds the user's held-out tests out of a run, from its beginning to its end."""

from __future__ import annotations

from pathlib import Path

from ..errors import RetraiError, UsageError
from ..guard.held_files import told
from ..guard.holdout import Holdout
from ..runs.record import HeldOutCounts, RunRecord
from .session import RunSession

_HIDDEN = (
    "the held-out files are kept in the run's folder until it ends; should retrai be killed, "
    "`retrai runs list` brings them back"
)


class Holding:
    """What `holdout:` asks of one run; nothing where it asks for nothing.

    Args:
        session: the run's parts.
        record: gets the counts at the end.
        folder: the run's folder.
    """

    def __init__(self, session: RunSession, record: RunRecord, folder: Path) -> None:
        self._session = session
        self._record = record
        self._state = folder.parents[1]  # runs/<id> stands in the state folder
        self._holdout: Holdout | None = None

    async def begin(self) -> None:
        """Take the files out of the project, before anything of the run has looked at it.

        Raises:
            UsageError: they cannot be held out here, and why.
        """
        patterns, guard = self._session.resolved.config.holdout, self._session.guard
        if not patterns or guard is None:  # without a goal nothing is checked
            return
        await self._session.contributing
        self._require_inner_tools()
        context = self._session.context
        self._holdout = Holdout(context, patterns, self._state)
        await guard.hide(self._holdout)
        context.publish("log", level="info", message=_HIDDEN)

    def with_counts(self, reason: str) -> str:
        """The reason with the counts, which are told only now that the run has ended."""
        last = self._holdout.last if self._holdout is not None else None
        if last is None:
            return reason
        self._record.evidence.held_out = HeldOutCounts(total=last.total, failed=last.failed)
        return f"{reason}; {last}"

    def end(self) -> None:
        """Bring the files back; what cannot be brought back now is by the next command."""
        if self._holdout is None:
            return
        publish = self._session.context.publish
        try:
            back = self._holdout.show()
        except (RetraiError, OSError) as error:
            message = f"held-out files are not back: {error}; `retrai runs list` tries it again"
            publish("log", level="error", message=message)
            return
        for line in told(back):
            publish("log", level="warning", message=line)

    def _require_inner_tools(self) -> None:
        """Refuse tools that work outside the sandbox: they could read what it hides."""
        known = {tool.record.name for tool in self._session.resolved.tools}
        others = sorted(set(self._session.context.tools) - known)
        if others:
            raise UsageError(
                f"holdout: the tool {others[0]} works outside the sandbox and could read the "
                "held-out files",
                hint=f"--no-tools '{others[0].partition('.')[0]}*' leaves it out",
            )
