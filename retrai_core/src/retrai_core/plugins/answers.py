"""Compares the return values of plugins with the types that their contracts declare."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from types import GeneratorType, UnionType
from typing import (
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ..errors import PluginError, RetraiError
from .error_attribution import WrongAnswerError
from .record import PluginRecord

T = TypeVar("T")

_CONTRACTS = f"{__name__.partition('.')[0]}.contracts."
_BUILT_LATER = frozenset({"create", "build_graph", "command"})
"""What these return comes from a library that is slow to import: whoever calls them looks at it."""
_NO_ANSWER = frozenset({"aclose", "learn", "warm_up"})
"""What these return is never used."""
_MARK = "_is_held_against_its_contract"


def checked_answers(part: T, record: PluginRecord | None = None) -> T:
    """The part itself, whose methods from now on answer as their contract says or raise.

    Every method that its contract declares is held against the declared return type: a goal's
    `check` against `GoalResult`, field by field.

    Args:
        part: an instance of a plugin's class.
        record: the plugin, for the error.

    Raises:
        WrongAnswerError: from such a method, with what it answered instead.
    """
    for name, expected in _declared(type(part)).items():
        if hasattr(getattr(part, name), _MARK):  # a hook may give the same tool to several runs
            continue
        object.__setattr__(part, name, _checked(part, name, expected, record))  # frozen ones too
    return part


def problem(answer: object, expected: Any) -> str:
    """What is wrong with an answer, or "".

    Example:
        >>> from retrai_core import CheckReport, GoalResult
        >>> problem(GoalResult(True, "fine", report=CheckReport({"a": "green"}, ["t"])), GoalResult)
        "a GoalResult whose report.cases['a'] is 'green', not 'passed', 'failed', 'error', \
'skipped', 'xfailed' or 'xpassed'"
        >>> problem("fine", GoalResult)
        "'fine', not a GoalResult"
    """
    found = _wrong(answer, expected)
    if found is None:
        return ""
    where, value, wanted = found
    shown = _shown(value)
    if not where:
        return f"{shown}, not {wanted}"
    return f"{_article(type(answer).__name__)} whose {where.lstrip('.')} is {shown}, not {wanted}"


def ask_plugin(record: PluginRecord, question: Callable[[], T], expected: object) -> T:
    """Ask a plugin something outside a run; what it raises becomes an error that names it.

    So does an answer that is not as `expected`, a type.
    """
    try:
        answer = question()
        if wrong := problem(answer, expected):
            raise WrongAnswerError(answer, f"it answered {wrong}", record)
        return answer
    except RetraiError:
        raise
    except (Exception, SystemExit) as error:
        what = (
            error.what
            if isinstance(error, WrongAnswerError)
            else f"{type(error).__name__}: {error}"
        )
        raise record.failure(what, PluginError) from error


def _checked(
    part: object, name: str, expected: tuple[bool, Any], record: PluginRecord | None
) -> Callable[..., Any]:
    method: Callable[..., Any] = getattr(part, name)
    is_async, returned = expected

    def wrong(what: str) -> WrongAnswerError:
        return WrongAnswerError(part, f"{name}() {what}", record)

    def checked(answer: Any) -> Any:
        # What a method yields can be looked at once only.
        kept = list(cast("Iterator[Any]", answer)) if isinstance(answer, GeneratorType) else answer
        if found := problem(kept, returned):
            raise wrong(f"returned {found}")
        return kept

    @wraps(method)
    async def ask_async(*args: Any, **kwargs: Any) -> Any:
        try:
            answer = method(*args, **kwargs)
            if not inspect.isawaitable(answer):
                raise wrong(f"returned {_shown(answer)} and cannot be awaited: `async def` it")
            return checked(await answer)
        except SystemExit as error:  # would end retrai with the exit code that the plugin likes
            raise wrong(f"ends the program (SystemExit: {error.code})") from error

    @wraps(method)
    def ask(*args: Any, **kwargs: Any) -> Any:
        try:
            answer = method(*args, **kwargs)
            if inspect.iscoroutine(answer):
                answer.close()  # or Python would tell the user that it was never awaited
            return checked(answer)
        except SystemExit as error:
            raise wrong(f"ends the program (SystemExit: {error.code})") from error

    answering = ask_async if is_async else ask
    setattr(answering, _MARK, True)
    return answering


@cache
def _declared(cls: type[object]) -> Mapping[str, tuple[bool, Any]]:
    """The methods of a plugin's contract: whether each is a coroutine, and what it returns."""
    found: dict[str, tuple[bool, Any]] = {}
    for contract in cls.__mro__:
        if not contract.__module__.startswith(_CONTRACTS):
            continue
        for name, method in vars(contract).items():
            if name.startswith("_") or name in _BUILT_LATER | _NO_ANSWER or name in found:
                continue
            if inspect.isfunction(method):
                found[name] = (inspect.iscoroutinefunction(method), _returned(method))
    return found


@cache
def _returned(function: Callable[..., Any]) -> Any:
    hints = {"return": function.__annotations__["return"]}
    return _hints(hints, vars(inspect.getmodule(function)))["return"]


def _hints(annotations: Mapping[str, Any], namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Annotations as types; those of parameters may name what only a type checker imports."""
    holder = type("holder", (), {"__annotations__": dict(annotations)})
    return get_type_hints(holder, dict(namespace))


@cache
def _fields(cls: type[object]) -> Mapping[str, Any]:
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in fields(cast("Any", cls))}


@cache
def _keys(cls: type[object]) -> Mapping[str, Any]:
    return get_type_hints(cls, include_extras=True)


_Wrong = tuple[str, object, str]
"""Where the wrong value stands, the value, and what belongs there."""


def _wrong(value: object, expected: Any) -> _Wrong | None:
    """The first thing in `value` that is not as `expected`; None when all of it is."""
    origin: Any = get_origin(expected)
    if expected is Any or expected is object:
        return None
    if origin is Literal:
        # An outcome is looked up in sets: what cannot be hashed is none.
        known = isinstance(value, str) and value in get_args(expected)
        return None if known else ("", value, _one_of(get_args(expected)))
    if origin in (Union, UnionType):
        return _wrong_for_all(value, get_args(expected))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Collection):
        return _wrong_collection(value, cast("type[Any]", origin), get_args(expected))
    if is_typeddict(expected):
        return _wrong_keys(value, expected)
    if not _is_a(value, expected):
        return "", value, _article(expected.__name__)
    return _wrong_field(value, expected) if is_dataclass(cast("object", expected)) else None


def _wrong_field(value: object, expected: type[object]) -> _Wrong | None:
    for name, hint in _fields(expected).items():
        # A subclass may lack it.
        if (found := _wrong(getattr(value, name, None), hint)) is not None:
            return f".{name}{found[0]}", found[1], found[2]
    return None


def _wrong_keys(value: object, expected: Any) -> _Wrong | None:
    if not isinstance(value, Mapping):
        return "", value, "a mapping"
    whole: object = cast("object", value)
    given = cast("Mapping[object, object]", value)
    for name, hint in _keys(expected).items():
        optional = get_origin(hint) is NotRequired
        if name not in given:
            if optional:
                continue
            return "", whole, f"a mapping with the key {name!r}"
        if found := _wrong(given[name], get_args(hint)[0] if optional else hint):
            return f"[{name!r}]{found[0]}", found[1], found[2]
    return None


def _is_a(value: object, expected: type[object]) -> bool:
    if expected is float:
        if isinstance(value, float):  # a price that is no number would switch every limit off
            return math.isfinite(value)
        return isinstance(value, int) and not isinstance(value, bool)
    if expected is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, expected)


def _wrong_for_all(value: object, options: tuple[Any, ...]) -> _Wrong | None:
    wrong = [_wrong(value, option) for option in options]
    if None in wrong:
        return None
    found = [one for one in wrong if one is not None]
    inside = next((one for one in found if one[0]), None)
    return inside or ("", value, " or ".join(one[2] for one in found))


def _wrong_collection(value: object, origin: type[Any], inner: tuple[Any, ...]) -> _Wrong | None:
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return "", value, "a mapping"
        for key, item in cast("Mapping[object, object]", value).items():
            if found := _wrong(key, inner[0]):
                return f" key {key!r}{found[0]}", found[1], found[2]
            if found := _wrong(item, inner[1]):
                return f"[{key!r}]{found[0]}", found[1], found[2]
        return None
    # A set or a view serves where a sequence is asked for; a text is one by accident only.
    if not isinstance(value, Collection) or isinstance(value, str | bytes | Mapping):
        return "", cast("object", value), "a list"
    for index, item in enumerate(cast("Collection[object]", value)):
        if found := _wrong(item, inner[0]):
            return f"[{index}]{found[0]}", found[1], found[2]
    return None


def _one_of(options: tuple[object, ...]) -> str:
    *first, last = (repr(option) for option in options)
    return f"{', '.join(first)} or {last}" if first else last


def _article(name: str) -> str:
    return "None" if name == "NoneType" else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _shown(value: object) -> str:
    """The value where it is short and plain, else its type."""
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, str) and len(value) <= 60:
        return repr(value)
    return _article(type(value).__name__)
