"""The exceptions of retrai. A message says what was wrong, where, and what to type next."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class RetraiError(Exception):
    """Base of every error that retrai shows to a person.

    Args:
        message: one line: what was wrong and where.
        hint: the next command to type, or what to change; empty when the message says it all.
    """

    exit_code = 70

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class StateFolderError(RetraiError):
    """The state folder cannot be written: it is read-only, full, or not a folder.

    Args:
        state: the state folder.
        error: what the system says.
    """

    def __init__(self, state: Path, error: OSError) -> None:
        at = f" ({error.filename})" if error.filename else ""
        super().__init__(
            f"nothing can be kept in the state folder {state}: {error.strerror or error}{at}",
            hint="`export RETRAI_STATE_DIR=FOLDER` takes another, one that can be written to",
        )


class UsageError(RetraiError):
    """The user typed something invalid, or wrote it in a configuration file; exit code 2."""

    exit_code = 2


class PluginError(RetraiError):
    """A plugin that this run needs is broken, incompatible, blocked or ambiguous."""

    exit_code = 2


class PluginFailedError(RetraiError):
    """A plugin raised, or returned an invalid value, during a run; the run ends as `error`."""


class ModelError(RetraiError):
    """A model call failed after the provider's own retries.

    The run goes on within its limits; three in a row end it. With `fatal`, trying again cannot help
    (a wrong key, a model that does not exist), and the run ends at once.
    """

    def __init__(self, message: str, *, hint: str = "", fatal: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.fatal = fatal


class WorkspaceError(RetraiError):
    """A path or a write was refused: it leaves the project, or the guard protects it."""


class WorkspaceLockedError(RetraiError):
    """Another run works in this project; the message names it.

    Attributes:
        holder: its id; empty when it is not known.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "", holder: str = "") -> None:
        super().__init__(message, hint=hint)
        self.holder = holder


class ToolError(RetraiError):
    """A tool call failed; the message becomes a result that the model reads."""


class RunNotFoundError(UsageError):
    """No run has this id, or more than one begins with it."""


class RunUnderWayError(UsageError):
    """The run is already in progress."""


class ClaimLostError(RetraiError):
    """Another holder has the claim now, or it was released; the former holder cannot write."""


class TrustRequired(UsageError):  # noqa: N818 - the public name
    """The project's own file sets something that needs the user's consent, such as a command.

    Attributes:
        digest: stands for exactly these items; `trust=digest` consents to them.
        items: name of the setting and its value.
    """

    def __init__(
        self, message: str, *, hint: str = "", digest: str, items: Mapping[str, object]
    ) -> None:
        super().__init__(message, hint=hint)
        self.digest = digest
        self.items = dict(items)


class UnreadableRunError(RunNotFoundError):
    """The run exists, but its record cannot be read."""


class BudgetSpentError(BaseException):
    """A call of another model would exceed the run's budget; ends the run as `budget`.

    Not an `Exception`: code that calls a judge takes every `Exception` for a failure of the judge,
    and would continue with a verdict that nobody gave.
    """


def nearest(name: str, known: list[str]) -> str:
    """` (did you mean NAME?)` for the nearest known name, or nothing."""
    import difflib  # help pages raise errors too

    close = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {close[0]}?)" if close else ""
