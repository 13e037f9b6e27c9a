"""Checks the arguments of the session API: a wrong one is a UsageError."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from functools import cache, wraps
from types import SimpleNamespace
from typing import Annotated, Any, ParamSpec, TypeVar, Unpack, get_args, get_origin, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError

from ..errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")

NotNegative = Annotated[int, Field(ge=0)]
Days = Annotated[float, Field(ge=0)]
Temperature = Annotated[float, Field(ge=0, le=2)]


def checked_arguments(method: Callable[P, R]) -> Callable[P, R]:
    """Hold the arguments against the method's annotations before its body runs.

    What stands for a value of the right type (the text "5" for a number) becomes that value.

    Raises:
        UsageError: by the method: an argument is missing, of no use, or unknown.
    """
    signature = inspect.signature(method)

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise UsageError(f"{method.__name__}: {error}") from error
        for name, adapter in _adapters(method).items():
            if name in given.arguments:
                is_filter = signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD
                value = given.arguments[name]
                given.arguments[name] = _validated("" if is_filter else name, adapter, value)
        return method(*given.args, **given.kwargs)

    return call


def _validated(name: str, adapter: TypeAdapter[Any], value: object) -> Any:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what = first["msg"].removeprefix("Value error, ").lower()
        where = name or ".".join(map(str, first["loc"]))
        raise UsageError(f"{where}: {what}, got {first['input']!r}") from error


@cache
def _adapters(method: Callable[..., Any]) -> dict[str, TypeAdapter[Any]]:
    """What checks each argument, by its name; made once the method is called."""
    hints = {name: hint for name, hint in method.__annotations__.items() if name != "return"}
    # What a module imports for the type checker alone is public, and may be slow to import.
    package = sys.modules[__name__.partition(".")[0]]
    words = set(re.findall(r"\w+", " ".join(map(str, hints.values()))))
    public = {word: getattr(package, word) for word in words & set(package.__all__)}
    names = vars(sys.modules[method.__module__])
    types = get_type_hints(SimpleNamespace(__annotations__=hints), names, public, True)
    plain = {
        name: get_args(hint)[0] if _is_unpacked(hint) else hint for name, hint in types.items()
    }
    return {name: TypeAdapter(hint) for name, hint in plain.items()}


def _is_unpacked(hint: object) -> bool:
    return get_origin(hint) is Unpack
