"""What the model reads of a piece of code that a tool ran for it."""

from __future__ import annotations

from .sandbox import Completed
from .shortened import shorten
from .tool import ToolResult


def code_result(
    done: Completed, *, timeout_s: float, max_chars: int, hidden: str = ""
) -> ToolResult:
    """What was printed, how it ended where it did not end well, and both as values.

    Args:
        done: how it ended.
        timeout_s: the seconds that it was given.
        max_chars: the longest text, in characters.
        hidden: what is taken out of the text: a folder that the model knows nothing of.

    Example:
        >>> done = Completed(1, "42\\n", "ValueError: no\\n", duration_s=0.1)
        >>> result = code_result(done, timeout_s=30, max_chars=8000)
        >>> print(result.content)
        42
        ValueError: no
        [exit status 1]
        >>> result.ok, result.data["exit_code"]
        (False, 1)
    """
    parts = [done.stdout.rstrip(), done.stderr.rstrip()]
    if done.timed_out:
        parts.append(f"[ended after {timeout_s:g} s, before it was done]")
    elif done.exit_code != 0:
        parts.append(f"[exit status {done.exit_code}]")
    text = "\n".join(part for part in parts if part) or "[no output]"
    return ToolResult(
        shorten(text.replace(hidden, "") if hidden else text, max_chars),
        ok=done.exit_code == 0 and not done.timed_out,
        data={
            "exit_code": done.exit_code,
            "stdout": done.stdout,
            "stderr": done.stderr,
            "timed_out": done.timed_out,
            "duration_s": done.duration_s,
        },
    )
