"""Describes a plugin's class as a manifest entry."""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from ..config.option_names import aliases_of
from .entry import OFFERS, ManifestEntry, MarkerEntry, Offered, OptionEntry
from .kinds import Kind

_LONGEST_SUMMARY = 80
_IMPL_MARK = "retrai_impl"
"""The attribute that pluggy's `HookimplMarker("retrai")` leaves on a method."""
_SPEC_MARK = "retrai_spec"


def describe_plugin(kind: Kind, plugin: object) -> ManifestEntry:
    """The manifest entry of a loaded plugin.

    Raises:
        TypeError: an attribute has a form that no manifest can hold.
    """
    hooks = {"hook": hook_names, "hookspec": spec_names}.get(kind)
    is_goal = kind == "goal"
    return ManifestEntry(
        summary=_summary(plugin),
        needs=declared_needs(plugin),
        options=described_fields(getattr(plugin, "Options", None)),
        markers=tuple(
            MarkerEntry(marker.glob, marker.contains, marker.priority)
            for marker in (getattr(plugin, "markers", ()) if is_goal else ())
        ),
        model_patterns=tuple(getattr(plugin, "model_patterns", ()) if kind == "llm" else ()),
        default_tools=tuple(getattr(plugin, "default_tools", ()) if is_goal else ()),
        hooks=hooks(plugin) if hooks else (),
        programs=tuple(sorted(getattr(plugin, "programs", ()))),
        offered=_offered(plugin) if kind == "tool" else "by_goal",
        protects=" ".join(getattr(plugin, "protects", "").split()) if is_goal else "",
        steers=" ".join(getattr(plugin, "steers", "").split()) if is_goal else "",
        parent=_parent(plugin) if kind == "frontend" else "",
    )


def _parent(plugin: object) -> str:
    parent = getattr(plugin, "parent", "")
    if not isinstance(parent, str):
        raise TypeError(f"parent is {parent!r}, not the name of a command")
    return parent


def _offered(plugin: object) -> Offered:
    offered = getattr(plugin, "offered", "by_goal")
    if offered not in OFFERS:
        raise TypeError(f"offered is {offered!r}, none of {', '.join(OFFERS)}")
    return offered


def hook_names(plugin: object) -> tuple[str, ...]:
    """The hooks that `plugin` (a module, a class or an object) implements, sorted."""
    return tuple(sorted(mark.get("specname") or name for name, mark in _marks(plugin, _IMPL_MARK)))


def needed_hooks(plugin: object) -> tuple[str, ...]:
    """The same without those that it implements only where there is such a hook."""
    marks = [(n, mark) for n, mark in _marks(plugin, _IMPL_MARK) if not mark.get("optionalhook")]
    return tuple(sorted(mark.get("specname") or name for name, mark in marks))


def spec_names(specs: object) -> tuple[str, ...]:
    """The hooks that `specs` (a module, a class or an object) specifies, sorted."""
    return tuple(sorted(name for name, _ in _marks(specs, _SPEC_MARK)))


def _marks(plugin: object, mark: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The marked attributes; one that raises when it is looked at is none, and no harm."""
    for attribute in dir(plugin):
        found = getattr(inspect.getattr_static(plugin, attribute, None), mark, None)
        if isinstance(found, dict):
            yield attribute, cast("dict[str, Any]", found)


def declared_needs(plugin: object) -> tuple[str, ...]:
    """What a loaded plugin says that it uses, sorted."""
    return tuple(sorted(getattr(plugin, "needs", ())))


def _summary(plugin: object) -> str:
    """The class's `summary`, else the first line of a tool's description or of the docstring."""
    text = getattr(plugin, "summary", "")
    if not isinstance(text, str) or not text:
        text = getattr(plugin, "description", "") or inspect.getdoc(plugin) or ""
    first = " ".join(text.strip().partition("\n\n")[0].split())
    # A tool's description speaks to the model at length; its first sentence will do in a list.
    sentence, _, rest = first.partition(". ")
    return f"{sentence}." if rest and len(first) > _LONGEST_SUMMARY else first


def described_fields(model: object) -> dict[str, OptionEntry]:
    """The fields of a pydantic model by name; none of anything else."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return {}
    documented = _attribute_docs(model)
    return {
        name: _option(field, documented.get(name, ""))
        for name, field in sorted(model.model_fields.items())
    }


def _option(field: FieldInfo, documented: str) -> OptionEntry:
    required = field.is_required()
    default = None if required else field.get_default(call_default_factory=True, validated_data={})
    return OptionEntry(
        type=type_name(field.annotation),
        default=to_jsonable_python(default, fallback=str),
        required=required,
        description=" ".join((field.description or documented).split()),
        runs=_extra(field, "runs") is True,
        loosens=_extra(field, "loosens"),
        aliases=aliases_of(field),
    )


def _extra(field: FieldInfo, key: str) -> bool | None:
    """What the field says by `json_schema_extra={KEY: ...}`; None where it says nothing."""
    extra = field.json_schema_extra
    said = cast("dict[str, object]", extra).get(key) if isinstance(extra, dict) else None
    return said if isinstance(said, bool) else None


def _attribute_docs(model: type[BaseModel]) -> dict[str, str]:
    """The strings that stand below fields in the class body; nothing where there is no source."""
    docs: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if base is BaseModel or not issubclass(base, BaseModel):
            continue
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
        except (OSError, TypeError, SyntaxError):
            continue
        body = cast(ast.ClassDef, tree.body[0]).body
        for field, text in itertools.pairwise(body):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
                and isinstance(text.value.value, str)
            ):
                docs[field.target.id] = text.value.value
    return docs


def type_name(annotation: object) -> str:
    """An annotation as a person writes it, the same for every version of Python.

    Example:
        >>> type_name(int | None), type_name(list[str])
        ('int | None', 'list[str]')
    """
    if annotation is None or annotation is type(None):
        return "None"
    if isinstance(annotation, str):
        return annotation
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Union or origin is types.UnionType:
        return " | ".join(type_name(argument) for argument in arguments)
    if origin is Literal:
        return " | ".join(repr(argument) for argument in arguments)
    if origin is not None and arguments:
        inner = ", ".join(_argument_name(argument) for argument in arguments)
        return f"{type_name(origin)}[{inner}]"
    if isinstance(annotation, type):
        return "path" if issubclass(annotation, Path) else annotation.__name__
    return str(annotation).removeprefix("typing.")


def _argument_name(argument: object) -> str:
    if argument is Ellipsis:
        return "..."
    if isinstance(argument, list):
        items = cast(Sequence[object], argument)
        return f"[{', '.join(type_name(item) for item in items)}]"
    return type_name(argument)
