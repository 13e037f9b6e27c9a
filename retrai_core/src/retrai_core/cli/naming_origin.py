"""Says where a plugin's name stands that nobody knows: which file, or which variable."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import UnknownPluginError, UsageError

if TYPE_CHECKING:
    from ..settings import Settings

_NOT_WRITTEN = ("flag", "default")
_FIELDS = {"tool": ("tools", "no_tools")}
"""By kind of plugin, the settings that name one; else the setting is called like the kind."""


@contextmanager
def told_with_origin(settings: Settings) -> Generator[None]:
    """Add to an unknown name the file or variable that it comes from; one typed needs none.

    Raises:
        UsageError: the name is not known.
    """
    try:
        yield
    except UnknownPluginError as error:
        origin = _origin(settings, error)
        if not origin:
            raise
        raise UsageError(f"{error.message} (from {origin})", hint=error.hint) from error


def _origin(settings: Settings, error: UnknownPluginError) -> str:
    for field in _FIELDS.get(error.kind, (error.kind,)):
        value: object = getattr(settings.config, field, None)
        is_named = value == error.name or (isinstance(value, list) and error.name in value)
        origin = settings.origins.get(field, "default")
        if is_named and origin not in _NOT_WRITTEN:
            return origin
    return ""
