"""pytest's own explanation of a failure, as plain data of bounded size.

Nothing but the standard library is used, of Python 3.7 on.
"""

from __future__ import annotations

from typing import Any

MAX_TEXT = 16000


def shorten(text: Any, limit: int) -> str:
    text = str(text)
    if len(text) <= limit:
        return text
    half = limit // 2
    cut = len(text) - 2 * half
    return "%s\n... %d characters left out ...\n%s" % (text[:half], cut, text[-half:])


def explain(longrepr: Any) -> dict[str, Any]:
    """The text that pytest would print, and where and how the test crashed, if it says so."""
    found: dict[str, Any] = {"text": shorten(longrepr, MAX_TEXT)}
    # Not every explanation has it: a doctest's, a collection error's and a plugin's are texts.
    crash: Any = getattr(longrepr, "reprcrash", None)
    if crash is not None:
        found["path"] = str(crash.path)
        found["line"] = int(crash.lineno or 0)
        found["message"] = shorten(crash.message, MAX_TEXT)
    return found


def describe_subtest(report: Any) -> str:
    """What tells one subtest from another; empty for a test of its own."""
    context = getattr(report, "context", None)
    if context is None or not hasattr(context, "kwargs"):
        return ""
    parts = [] if context.msg is None else ["[%s]" % context.msg]
    if context.kwargs:
        parts.append("(%s)" % ", ".join("%s=%s" % pair for pair in sorted(context.kwargs.items())))
    return " ".join(parts) or "(<subtest>)"
