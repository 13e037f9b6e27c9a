"""Say in a sentence what a successful run did, for `MemoryStore.learn`."""

from __future__ import annotations

from retrai_core import RunOutcome

_MAX_INSIGHT_CHARS = 240
_BEGINNINGS = {
    "worked": "This works: ",
    "avoid": "Avoid this: ",
    "project": "About the project: ",
    "tools": "About the tools: ",
}
MAX_FILES = 4
MAX_TOOLS = 6


def what_worked(outcome: RunOutcome) -> str:
    """What made the check pass; empty where the run changed nothing, so that nothing was tried.

    The same things read the same. Only the first few files are named: packaging's own say nothing,
    and those at the project's root come last, since scratch files lie there.

    Example:
        >>> from pathlib import Path
        >>> failure, files, tools = "2 of 20 tests fail", ["src/cart.py"], ["file_patch"]
        >>> what_worked(RunOutcome("pytest", Path("."), "achieved", failure, files, tools))
        'a change to src/cart.py made the check pass (tools: file_patch)'
    """
    changed = outcome.changed_files
    if not changed:
        return ""
    telling = [path for path in changed if ".egg-info/" not in path] or changed
    names = [
        prompt_line(path) for path in sorted(telling, key=lambda path: ("/" not in path, path))
    ]
    more = " and others" if len(names) > MAX_FILES else ""
    tools = ", ".join(outcome.tools_used[:MAX_TOOLS])
    by_tools = f" (tools: {tools})" if tools else ""
    return f"a change to {', '.join(names[:MAX_FILES])}{more} made the check pass{by_tools}"


def insight_lines(outcome: RunOutcome) -> list[str]:
    """What the model says that a run teaches, each on one line that says what it is about.

    Example:
        >>> from pathlib import Path
        >>> from retrai_core import Insight
        >>> said = [Insight("avoid", "Pinning numpy breaks the build.")]
        >>> insight_lines(RunOutcome("pytest", Path("."), "failed", "2 fail", insights=said))
        ['Avoid this: Pinning numpy breaks the build']
    """
    lines = [
        (insight.kind, prompt_line(insight.text, _MAX_INSIGHT_CHARS).rstrip("."))
        for insight in outcome.insights
    ]
    return [f"{_BEGINNINGS[kind]}{text}" for kind, text in lines if text]


def prompt_line(text: str, max_chars: int | None = None) -> str:
    """Printable characters on one line, for a text of others that goes into a prompt.

    Args:
        text: what a model, a test or a file's name says.
        max_chars: the longest line, in characters.

    Example:
        >>> prompt_line("no\\n\\n## New   orders")
        'no ## New orders'
        >>> prompt_line("as long as it is", 9)
        'as long…'
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if max_chars is None or len(line) <= max_chars:
        return line
    return line[: max_chars - 1].rstrip() + "…"
