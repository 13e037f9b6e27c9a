"""The names of an option: its own, and aliases that files and flags may use as well.

A field declares its aliases by `json_schema_extra={"aliases": [...]}`. They are renamed once,
before the options are validated, so that everything behind that point knows one name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, cast, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ..errors import UsageError


class Renamed(NamedTuple):
    """Options under their own names.

    Attributes:
        options: value by name.
        written: by a dotted name (`success_condition.output_matches`), the name that was given,
            where that is an alias.
    """

    options: dict[str, Any]
    written: dict[str, str]


def aliases_of(field: FieldInfo) -> tuple[str, ...]:
    """The aliases that a field declares."""
    extra = field.json_schema_extra
    said = cast("dict[str, object]", extra).get("aliases") if isinstance(extra, dict) else None
    return tuple(map(str, cast("list[object]", said))) if isinstance(said, list) else ()


def own_name(model: type[BaseModel], name: str) -> str | None:
    """The field that a name or an alias means; None where the model has none of that name."""
    fields = model.model_fields
    return name if name in fields else _by_alias(model).get(name)


def own_names(
    model: type[BaseModel],
    given: Mapping[str, Any],
    origin: Callable[[str], str] | None = None,
    title: str = "",
) -> Renamed:
    """What is given, under the names of the model's fields; also within options that are models.

    Args:
        model: the options.
        given: value by name or alias, the later sources last. An unknown name is kept.
        origin: says where a name stands; without it, the last of several names counts.
        title: what the plugin is called in messages.

    Raises:
        UsageError: one source gives an option under two names.

    Example:
        >>> from pydantic import Field
        >>> class Options(BaseModel):
        ...     runs: int = Field(3, json_schema_extra={"aliases": ["iterations"]})
        >>> own_names(Options, {"iterations": 5}).options
        {'runs': 5}
    """
    options: dict[str, Any] = {}
    written: dict[str, str] = {}
    first: dict[str, str] = {}
    for name, value in given.items():
        own = own_name(model, name) or name
        if origin and own in first and origin(first[own]) == origin(name):
            raise UsageError(
                f"{first[own]} and {name} are one option of {title}{origin(name)}",
                hint=f"give {own} alone",
            )
        first[own] = name
        options.pop(own, None)
        options[own] = value
        written = {key: text for key, text in written.items() if key.partition(".")[0] != own}
        if name != own:
            written[own] = name
        inner = _inner_model(model, own)
        if inner is not None and isinstance(value, Mapping):
            options[own], below = own_names(inner, cast("Mapping[str, Any]", value))
            written |= {f"{own}.{key}": f"{name}.{text}" for key, text in below.items()}
    return Renamed(options, written)


def _by_alias(model: type[BaseModel]) -> dict[str, str]:
    return {
        alias: name for name, field in model.model_fields.items() for alias in aliases_of(field)
    }


def _inner_model(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    field = model.model_fields.get(name)
    if field is None:
        return None
    kinds: Iterable[object] = [field.annotation, *get_args(field.annotation)]
    return next((k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)), None)
