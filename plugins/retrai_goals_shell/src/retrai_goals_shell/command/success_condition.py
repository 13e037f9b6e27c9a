"""When a command counts as successful."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from retrai_core import Completed

from ..option_types import IsRegex, OneOrMore

_SHOWN = 80
_LAST_CHARS = 4_000
_CONTROL = re.compile(r"\x1b\[[\d;]*[A-Za-z]|[\x00-\x1f\x7f]")


class SuccessCondition(BaseModel):
    """Every condition that is set must hold."""

    model_config = ConfigDict(extra="forbid")

    exit_code: int | None = Field(default=0, ge=0, le=255)
    """Required exit status; null accepts any."""
    output_contains: Annotated[list[str], OneOrMore] = Field(default_factory=list[str])
    """Texts that the output must contain."""
    output_matches: Annotated[str | None, IsRegex] = Field(
        default=None, json_schema_extra={"aliases": ["output_regex"]}
    )
    """Regular expression that some line of the output must match."""
    max_seconds: float | None = Field(default=None, gt=0)
    """Maximum wall-clock seconds."""

    def judge(self, done: Completed) -> Mapping[str, tuple[bool, str]]:
        """Each condition: whether it is met, and what was found where it is not, for people."""
        found: dict[str, tuple[bool, str]] = {}
        if self.exit_code is not None:
            found[f"exit status {self.exit_code}"] = (
                done.exit_code == self.exit_code,
                f"it ended with exit status {done.exit_code}{_last_line(done.stdout)}",
            )
        for text in self.output_contains:
            holds = text in done.stdout
            found[f"prints {_short(text)}"] = holds, f"it does not print {_short(text)}"
        if self.output_matches is not None:
            holds = re.search(self.output_matches, done.stdout, re.MULTILINE) is not None
            shown = _short(self.output_matches)
            found[f"prints what matches {shown}"] = holds, f"nothing it prints matches {shown}"
        if self.max_seconds is not None:
            found[f"ends within {self.max_seconds:g} s"] = (
                done.duration_s <= self.max_seconds,
                f"it took {done.duration_s:.2f} s",
            )
        return found


def _last_line(output: str) -> str:
    """What the command printed last, which often says why it failed; empty where it is nothing."""
    lines = [_CONTROL.sub("", line).strip() for line in output[-_LAST_CHARS:].splitlines()]
    last = next((line for line in reversed(lines) if line), "")
    return f": {last[:_SHOWN]}" if last else ""


def _short(text: str) -> str:
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return repr(shown)
