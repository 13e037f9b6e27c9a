"""Finds the plugin that raised an unexpected exception, so that the error can name it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
        super().__init__(what if record is None else f"{_named(record)} failed: {what}")
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
    first_line = next(iter(str(error).strip().splitlines()), "") or "no message"
    told = error.what if isinstance(error, WrongAnswerError) else f"{_kind(error)}: {first_line}"
    return PluginFailedError(
        f"{_named(record)} failed: {told}",
        hint=f"`pip install --upgrade {record.dist}`, or do without it",
    )


def _named(record: PluginRecord) -> str:
    return f"the {record.kind} {record.name} of {record.dist} {record.version}"


def _kind(error: BaseException) -> str:
    return type(error).__name__


def _answered_wrongly(error: BaseException, suspects: list[PluginRecord]) -> PluginRecord | None:
    if not isinstance(error, WrongAnswerError):
        return None
    return error.record or _record_of(type(error.part), suspects)


def _raised_in(error: BaseException, suspects: list[PluginRecord]) -> PluginRecord | None:
    packages = {_package(_module(record)): record for record in reversed(suspects)}
    for frame in _from_the_inside(error):
        record = packages.get(_package(frame.f_globals.get("__name__", "")))
        if record is not None:
            # A package may offer several plugins: the object whose method it is says which.
            owner = cast("object", frame.f_locals.get("self"))
            return _record_of(type(owner), suspects) or record
    return None


def _from_the_inside(error: BaseException) -> Iterator[FrameType]:
    frames: list[FrameType] = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    return reversed(frames)


def _record_of(cls: type[object], suspects: list[PluginRecord]) -> PluginRecord | None:
    """The plugin whose class this is; for want of that, one of the package that it stands in."""
    for base in cls.__mro__:
        for record in suspects:
            module, _, attribute = record.entry_point.partition(":")
            if base.__qualname__ == attribute.strip() and base.__module__ == module.strip():
                return record
    package = _package(cls.__module__)
    return next((r for r in suspects if _package(_module(r)) == package), None)


def _module(record: PluginRecord) -> str:
    return record.entry_point.partition(":")[0].strip()


def _package(module: str) -> str:
    return module.partition(".")[0]
