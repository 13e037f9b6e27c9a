"""What plugins say of their options and of a run, before there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from .errors import PluginError, RetraiError, UsageError
from .origins import origin_of
from .plugins.answers import problem
from .plugins.blame import WrongAnswerError
from .plugins.record import PluginRecord
from .run_config import agent_limits, unknown_option

T = TypeVar("T")


def checked_options(
    record: PluginRecord,
    cls: type[Any],
    given: Mapping[str, Any],
    project: Path,
    called: str = "",
) -> BaseModel:
    """What a plugin is given, as it declares it.

    Args:
        record: the plugin.
        cls: its class.
        given: the options.
        project: the project's folder, whose configuration may say where an option stands.
        called: the plugin's name in the configuration, where that is another.

    Raises:
        UsageError: it has no such option, or not with this value.
    """
    model = cast("type[BaseModel]", cls.Options)
    called = called or record.name
    title = called if called == record.name else f"{called} ({record.name})"
    for name in given:
        if name not in model.model_fields:
            known = [*model.model_fields, *(agent_limits() if record.kind == "agent" else ())]
            origin = _origin(record, given, name, project, called)
            raise unknown_option(name, record.kind, record.name, known, origin, title)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        # What is wrong with all of them together is not said better by printing them all.
        got = f", got {first['input']!r}" if name and first["type"] != "missing" else ""
        what = first["msg"].removeprefix("Value error, ")
        what = what if first["type"] == "value_error" else what.lower()
        raise UsageError(
            f"{name or 'the options'} of the {record.kind} {title}: {what}{got}"
            f"{_origin(record, given, name, project, called)}",
            hint=f"`retrai plugins show {record.name}` lists its options",
        ) from error


def _origin(
    record: PluginRecord, given: Mapping[str, Any], name: str, project: Path, called: str
) -> str:
    """Where the option stands; a goal's may stand by themselves, others below a plugin's name."""
    option = name.partition(".")[0]
    value = given.get(option)
    if record.kind == "goal":
        keys = (f"options.{option}", f"goals.{called}.{option}")
        return next(filter(None, (origin_of(project, key, value) for key in keys)), "")
    if record.kind == "agent" and (where := origin_of(project, f"agents.{called}.{option}", value)):
        return where
    return origin_of(project, f"plugins.{called}", given)


def asked(record: PluginRecord, question: Callable[[], T], expected: object) -> T:
    """What a plugin answers before there is a run; what it raises becomes an error naming it.

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
        raise PluginError(
            f"the {record.kind} `{record.name}` of {record.dist} {record.version} failed: {what}",
            hint=f"`pip install --upgrade {record.dist}`, or do without it",
        ) from error
