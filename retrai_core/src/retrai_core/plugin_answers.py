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
from .run_config import unknown_option

T = TypeVar("T")


def checked_options(
    record: PluginRecord, cls: type[Any], given: Mapping[str, Any], project: Path
) -> BaseModel:
    """What a plugin is given, as it declares it.

    Raises:
        UsageError: it has no such option, or not with this value.
    """
    model = cast("type[BaseModel]", cls.Options)
    for name in given:
        if name not in model.model_fields:
            known = list(model.model_fields)
            origin = _origin(record, given, name, project)
            raise unknown_option(name, record.kind, record.name, known, origin)
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
            f"{name or 'the options'} of the {record.kind} {record.name}: {what}{got}"
            f"{_origin(record, given, name, project)}",
            hint=f"`retrai plugins show {record.name}` lists its options",
        ) from error


def _origin(record: PluginRecord, given: Mapping[str, Any], name: str, project: Path) -> str:
    """Where the option stands; a goal's stand by themselves, others below the plugin's name."""
    if record.kind != "goal":
        return origin_of(project, f"plugins.{record.name}", given)
    option = name.partition(".")[0]
    return origin_of(project, f"options.{option}", given.get(option))


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
