"""The fields of the templates: names, authors and ranges, checked before anything is written."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import retrai_core
from retrai_core import GROUP_OF, Kind, UsageError

_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_DIST = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_LONGEST_NAME = 30
_PREFIX = "retrai-"
_AUTHOR = re.compile(r"(?P<name>[^<>]+?)(?:\s*<(?P<email>[^<>@\s]+@[^<>@\s]+)>)?")


@dataclass(frozen=True, slots=True)
class _Shape:
    """What differs from kind to kind: the module, the class's last word, what it depends on."""

    module: str
    last_word: str
    intro: str
    requirements: tuple[str, ...] = ()


_SHAPES: Mapping[Kind, _Shape] = {
    "goal": _Shape("goal", "Goal", "a command of the project exits with 0", ("pydantic>=2.9",)),
    "tool": _Shape("tool", "Tool", "counts what is in a text file", ("pydantic>=2.9",)),
    "llm": _Shape(
        "provider",
        "Provider",
        "says back what it is told",
        ("langchain-core>=1.0,<2", "pydantic>=2.9"),
    ),
    "memory": _Shape("store", "Memory", "lines of JSON in the project", ("pydantic>=2.9",)),
    "frontend": _Shape("frontend", "Frontend", "counts the runs", ("click>=8.1",)),
    "agent": _Shape(
        "agent",
        "Agent",
        "answers a question about a project",
        ("langchain-core>=1.0,<2", "langgraph>=1.2", "pydantic>=2.9"),
    ),
    "sandbox": _Shape("sandbox", "Sandbox", "limits every process", ("pydantic>=2.9",)),
    "sink": _Shape("sink", "Sink", "writes every event of a run to a file", ("pydantic>=2.9",)),
    "hook": _Shape("hooks", "Hooks", "guards files with secrets"),
}
WITH_TEMPLATE: tuple[Kind, ...] = tuple(_SHAPES)
"""The kinds that `retrai plugins new` knows how to begin."""
_WORD_FOR: Mapping[Kind, str] = {
    "llm": "model provider",
    "memory": "memory store",
    "sink": "event sink",
}


def template_fields(
    kind: str, name: str, author: str = "", *, dist: str = "", commands: Collection[str] = ()
) -> tuple[Kind, dict[str, Any]]:
    """The kind, and every field of its templates but `usage`.

    Args:
        kind: one of `WITH_TEMPLATE`.
        name: the plugin's name.
        author: `Name` or `Name <address>`; nobody is named when left out.
        dist: the distribution's name; `retrai-` and the plugin's when left out.
        commands: names of commands, which no frontend can have.

    Raises:
        UsageError: the kind is unknown, or the name or the author cannot be used.
    """
    known = _known_kind(kind)
    _check_name(name)
    if known == "frontend" and ("_" in name or name in commands):
        raise UsageError(f"`{name}` cannot be a new command's name", hint="take another name")
    if not dist:
        dist = _PREFIX + name.replace("_", "-").removeprefix(_PREFIX)
    elif not _DIST.fullmatch(dist):
        raise UsageError(
            f"{dist!r} cannot be a distribution's name",
            hint="small letters, digits, single - between them: `--dist acme-retrai-lint`",
        )
    return known, _fields(known, name, dist, author)


def _known_kind(kind: str) -> Kind:
    for known in WITH_TEMPLATE:
        if kind == known:
            return known
    kinds = f"kinds: {', '.join(WITH_TEMPLATE)}"
    if kind in GROUP_OF:
        raise UsageError(
            f"there is no template for a plugin of the kind {kind}",
            hint=f"docs/plugins/{kind}.md has its contract; {kinds}",
        )
    close = difflib.get_close_matches(kind, WITH_TEMPLATE, n=1)
    guess = f"did you mean {close[0]}? " if close else ""
    raise UsageError(f"unknown kind {kind!r}", hint=f"{guess}{kinds}")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise UsageError(
            f"{name!r} cannot be a plugin's name",
            hint=f"small letters, digits, single - or _ between them, at most {_LONGEST_NAME}",
        )


def _fields(kind: Kind, name: str, dist: str, author: str) -> dict[str, Any]:
    shape = _SHAPES[kind]
    package = dist.replace("-", "_")
    camel = _class_stem(name, shape.last_word)
    word = _WORD_FOR.get(kind, kind)
    intro = f"The {word} `{name}` for retrai: {shape.intro}."
    authors, holder = _authors(author)
    return {
        "name": name,
        "dist": dist,
        "package": package,
        "module": shape.module,
        "camel": camel,
        "class_name": camel + shape.last_word,
        "variable": f"{package.upper()}_FILE",
        "group": GROUP_OF[kind],
        "table": GROUP_OF[kind].removeprefix("retrai."),
        "description": intro.removesuffix(".").replace("`", ""),
        "intro": intro,
        "authors": authors,
        "holder": holder or f"The {dist} authors",
        "year": datetime.now(UTC).year,
        "core_range": _core_range(),
        "requirements": "".join(f'    "{need}",\n' for need in shape.requirements),
    }


def _class_stem(name: str, last_word: str) -> str:
    """`word_count` -> `WordCount`; a stem that would hide a class of retrai's gets a suffix."""
    stem = "".join(word.capitalize() for word in re.split("[-_]", name))
    made = {stem + last for last in (last_word, "Options", "Args")}
    return f"{stem}Plugin" if made & set(retrai_core.__all__) else stem


def _authors(author: str) -> tuple[str, str]:
    """The line of the pyproject file, and the holder of the rights."""
    if not author:
        return "", ""
    match = _AUTHOR.fullmatch(author.strip())
    if match is None or not author.isprintable():
        raise UsageError(f"{author!r} is no author", hint="`--author 'Name <address>'`")
    known = {key: value for key, value in match.groupdict().items() if value}
    inside = ", ".join(f"{key} = {json.dumps(value)}" for key, value in known.items())
    return f"authors = [{{ {inside} }}]\n", known["name"]


def _core_range() -> str:
    """From this minor version to the next: what `docs/plugins/stability.md` promises."""
    major, minor = retrai_core.__version__.split(".")[:2]
    return f">={major}.{minor},<{major}.{int(minor) + 1}"
