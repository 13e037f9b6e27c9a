"""Finds the plugin that raised an unexpected exception, so that the error can name it."""

from __future__ import annotations

from collections.abc import Iterable
from traceback import walk_tb
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
    return error.record or _record_of(type(error.part), suspects)


def _raised_in(error: BaseException, suspects: list[PluginRecord]) -> PluginRecord | None:
    packages = {_package(record.module): record for record in reversed(suspects)}
    for frame, _ in reversed(list(walk_tb(error.__traceback__))):
        record = packages.get(_package(frame.f_globals.get("__name__", "")))
        if record is not None:
            # A package may offer several plugins: the object whose method it is says which.
            owner = cast("object", frame.f_locals.get("self"))
            return _record_of(type(owner), suspects) or record
    return None


def _record_of(cls: type[object], suspects: list[PluginRecord]) -> PluginRecord | None:
    """The plugin whose class this is; for want of that, one of the package that it stands in."""
    for base in cls.__mro__:
        for record in suspects:
            attribute = record.entry_point.partition(":")[2].strip()
            if (base.__module__, base.__qualname__) == (record.module, attribute):
                return record
    package = _package(cls.__module__)
    return next((r for r in suspects if _package(r.module) == package), None)


def _package(module: str) -> str:
    return module.partition(".")[0]
