"""pytest's own explanation of a failure or a skip, as plain data of bounded size.

Nothing but the standard library is used, of Python 3.7 on.
"""

from __future__ import annotations

from typing import Any, Tuple, cast

MAX_TEXT = 16000
MAX_ENTRIES = 24


def shorten(text: Any, limit: int) -> str:
    text = str(text)
    if len(text) <= limit:
        return text
    half = limit // 2
    cut = len(text) - 2 * half
    return "%s\n... %d characters left out ...\n%s" % (text[:half], cut, text[-half:])


def explain_entry(entry: Any) -> dict[str, Any]:
    place = getattr(entry, "reprfileloc", None)
    return {
        "path": str(getattr(place, "path", "") or ""),
        "line": int(getattr(place, "lineno", 0) or 0),
        "where": str(getattr(place, "message", "") or ""),
        "lines": shorten("\n".join(str(x) for x in getattr(entry, "lines", ())), MAX_TEXT),
    }


def explain(longrepr: Any) -> dict[str, Any]:
    """pytest's own explanation of a failure or a skip, as plain data."""
    if longrepr is None:
        return {}
    if isinstance(longrepr, tuple):
        path, line, reason = cast("Tuple[object, Any, object]", longrepr)
        return {"path": str(path), "line": int(line or 0), "text": str(reason)}
    # Not every explanation has these: a doctest's, a collection error's and a plugin's are texts.
    crash: Any = getattr(longrepr, "reprcrash", None)
    alone: Any = (getattr(longrepr, "reprtraceback", None), None, "")
    chain: Any = getattr(longrepr, "chain", None) or [alone]
    parts: list[dict[str, Any]] = []
    for link in chain:
        entries: list[Any] = list(getattr(link[0], "reprentries", None) or ())
        if len(entries) > MAX_ENTRIES:
            entries = entries[: MAX_ENTRIES // 3] + entries[-2 * MAX_ENTRIES // 3 :]
        after = str(link[2] or "")
        if entries:
            parts.append({"entries": [explain_entry(entry) for entry in entries], "after": after})
    found: dict[str, Any] = {"chain": parts}
    if crash is not None:
        found["path"] = str(crash.path)
        found["line"] = int(crash.lineno or 0)
        found["message"] = shorten(crash.message, MAX_TEXT)
    if not parts:
        found["text"] = shorten(longrepr, MAX_TEXT)
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
