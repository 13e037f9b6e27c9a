"""Finds the plugin that raised an unexpected exception, so that the error can name it."""

from __future__ import annotations

from collections.abc import Iterable
from traceback import walk_tb
from types import FrameType
from typing import cast

from ..errors import PluginFailedError
from .kinds import CORE_DIST, normalised
from .record import PluginRecord


class WrongAnswerError(TypeError):
    """A plugin returned a value that its contract does not allow.

    Args:
        part: the goal, tool or provider that answered.
        what: what it did, without its name (`check() returned None, not a GoalResult`).
        record: the plugin that the part is of, where that is known.
    """

    def __init__(self, part: object, what: str, record: PluginRecord | None = None) -> None:
        super().__init__(
            what if record is None else record.failure(what, PluginFailedError).message
        )
        self.part = part
        self.what = what
        self.record = record


def blamed(error: BaseException, records: Iterable[PluginRecord]) -> PluginFailedError | None:
    """The error that names the plugin in whose code `error` was raised; None when it is in ours.

    Args:
        error: what was raised; its traceback is read from the inside out.
        records: the plugins that were in use.
    """
    suspects = [record for record in records if normalised(record.dist) != CORE_DIST]
    record = _answered_wrongly(error, suspects) or _raised_in(error, suspects)
    if record is None:
        return None
    if isinstance(error, WrongAnswerError):
        return record.failure(error.what, PluginFailedError)
    first_line = next(iter(str(error).strip().splitlines()), "") or "no message"
    return record.failure(f"{type(error).__name__}: {first_line}", PluginFailedError)


def _answered_wrongly(error: BaseException, suspects: list[PluginRecord]) -> PluginRecord | None:
    if not isinstance(error, WrongAnswerError):
        return None
    cls = type(error.part)
    return error.record or _of_class(cls, suspects) or _of_package(cls.__module__, suspects)


def _raised_in(error: BaseException, suspects: list[PluginRecord]) -> PluginRecord | None:
    frames = [frame for frame, _ in reversed(list(walk_tb(error.__traceback__)))]
    inside = (_of_package(_module(frame), suspects) for frame in frames)
    first = next((record for record in inside if record), None)
    if first is None:
        return None
    # A package may offer several plugins: the innermost object whose method it is says which.
    package = _package(first.module)
    own = [frame for frame in frames if _package(_module(frame)) == package]
    owners: list[object] = [frame.f_locals.get("self") for frame in own]
    classes = (_of_class(type(owner), suspects) for owner in owners)
    return next((record for record in classes if record), first)


def _of_class(cls: type[object], suspects: list[PluginRecord]) -> PluginRecord | None:
    for base in cls.__mro__:
        for record in suspects:
            attribute = record.entry_point.partition(":")[2].strip()
            if (base.__module__, base.__qualname__) == (record.module, attribute):
                return record
    return None


def _of_package(module: str, suspects: list[PluginRecord]) -> PluginRecord | None:
    return next((r for r in suspects if _package(r.module) == _package(module)), None)


def _module(frame: FrameType) -> str:
    return cast("str", frame.f_globals.get("__name__", ""))


def _package(module: str) -> str:
    return module.partition(".")[0]
