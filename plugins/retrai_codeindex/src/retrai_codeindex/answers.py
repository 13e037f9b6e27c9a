"""The words of answers, for people and for models: every place is `path:line-line`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .graph import Call, Definition
from .search import Hit

MAX_CALLS = 100
MAX_DOC = 300


def place(path: str, start: int, end: int) -> str:
    """`shop/cart.py:3-9`."""
    return f"{path}:{start}-{end}" if end > start else f"{path}:{start}"


def where(definition: Definition) -> str:
    """A definition's name with its place; the name alone outside the project."""
    if not definition.path:
        return definition.name
    return f"{definition.name}  {place_of(definition)}"


def place_of(definition: Definition) -> str:
    """The lines of a definition."""
    return place(definition.path, definition.start_line, definition.end_line)


def on_one_line(text: str) -> str:
    """A text of the project in which nothing looks like a place of ours: two blanks come before
    these alone."""
    return " ".join(text.split())


def hit_lines(hits: Iterable[Hit]) -> list[str]:
    """Hits, one below the other."""
    lines: list[str] = []
    for hit in hits:
        name = f"  {hit.kind} {hit.symbol}" if hit.symbol else f"  {hit.kind}"
        lines.append(f"{place(hit.path, hit.start_line, hit.end_line)}{name}  ({hit.score:.2f})")
        if hit.signature:
            lines.append(f"    {on_one_line(hit.signature)}")
        if hit.doc:
            lines.append(f"    {on_one_line(_first_sentence(hit.doc))}")
    return lines


def definition_lines(definition: Definition) -> list[str]:
    """A definition with its signature and the beginning of its docstring."""
    lines = [f"{definition.kind} {where(definition)}"]
    if definition.signature:
        lines.append(f"    {on_one_line(definition.signature)}")
    if definition.doc:
        lines.append(f"    {on_one_line(_first_sentence(definition.doc))}")
    return lines


def subclass_lines(
    name: str,
    definitions: Sequence[Definition],
    subclasses: Sequence[Definition],
    limit: int = MAX_CALLS,
) -> list[str]:
    """The lines that list subclasses; none where there are no subclasses.

    Args:
        name: what was asked for.
        definitions: the classes of that name; none where it is not of the project.
        subclasses: what inherits from them.
        limit: how many to list.
    """
    if not subclasses:
        return []
    names = ", ".join(each.name for each in definitions[:3]) or name
    lines = [f"subclasses of {names}: {len(subclasses)}"]
    lines += [f"    {where(each)}" for each in subclasses[:limit]]
    if len(subclasses) > limit:
        lines.append(f"    ... and {len(subclasses) - limit} more")
    return lines


def call_lines(
    definitions: Sequence[Definition], calls: Sequence[Call], *, up: bool, limit: int = MAX_CALLS
) -> list[str]:
    """Callers or callees, each with the lines of the calls.

    Args:
        definitions: those that have the name.
        calls: their callers or callees.
        up: `calls` are callers.
        limit: how many to list; of calls with an unknown target, a quarter of it.
    """
    lines: list[str] = []
    if len(definitions) > 1:
        lines.append(f"{len(definitions)} definitions have this name:")
        lines += [f"    {where(each)}" for each in definitions[:20]]
    resolved = [call for call in calls if call.resolved]
    unresolved = [call for call in calls if not call.resolved]
    noun = "callers" if up else "callees"
    shown = ", ".join(each.name for each in definitions[:3])
    lines.append(f"{noun} of {shown}: {len(resolved) or 'none'}")
    lines += [f"    {_call(call, up=up)}" for call in resolved[:limit]]
    if len(resolved) > limit:
        lines.append(f"    ... and {len(resolved) - limit} more")
    if unresolved:
        what = "calls of this name whose target is not known" if up else "with no known target"
        lines.append(f"{what}: {len(unresolved)}")
        lines += [f"    {_call(call, up=up)}" for call in unresolved[: limit // 4]]
        if len(unresolved) > limit // 4:
            lines.append(f"    ... and {len(unresolved) - limit // 4} more")
    return lines


def _call(call: Call, *, up: bool) -> str:
    numbers = ", ".join(map(str, call.lines[:5])) + (", ..." if len(call.lines) > 5 else "")
    at = f"{'line' if len(call.lines) == 1 else 'lines'} {numbers}"
    if up:
        return f"{where(call.caller)}  calls in {at}"
    return f"{where(call.callee)}  called in {at} of {call.caller.path}"


def chain_lines(chain: Iterable[tuple[int, Definition]]) -> list[str]:
    """A tree of calls, indented by depth."""
    return [f"{'    ' * depth}{where(each)}" for depth, each in chain]


def unknown_name(name: str, similar: Sequence[Definition]) -> str:
    """What is said when nothing has a name."""
    lines = [f"nothing in this project is called {name[:200]!r}"]
    if similar:
        lines.append("similar names:")
        lines += [f"    {where(each)}" for each in similar]
    return "\n".join(lines)


def _first_sentence(doc: str) -> str:
    text = " ".join(doc.strip().split("\n\n")[0].split())
    return text if len(text) <= MAX_DOC else f"{text[:MAX_DOC]}..."
