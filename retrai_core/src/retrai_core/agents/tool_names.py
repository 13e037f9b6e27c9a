"""Tool names in the form that providers accept: at most 64 letters, digits, `_` and `-`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

_LONGEST = 64
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def wire_name(name: str) -> str:
    """The name under which a model hears of a tool: `git.git_status` is `git__git_status`.

    OpenAI's and Anthropic's APIs refuse a dot. A name that is too long is cut, and keeps apart from
    others by a hash of the whole.
    """
    plain = _FOREIGN.sub("_", name.replace(".", "__"))
    if len(plain) <= _LONGEST:
        return plain
    return f"{plain[: _LONGEST - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def tool_called(wire: str, names: Iterable[str]) -> str:
    """The tool that a model means; what it says itself where no tool has that name."""
    known = list(names)
    if wire in known:
        return wire
    return next((name for name in known if wire_name(name) == wire), wire)
