"""Says where a plugin's name stands that nobody knows: which file, or which variable."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import UnknownPluginError, UsageError
from ..origins import origin_of
from ..run_config import USE

if TYPE_CHECKING:
    from ..settings import Settings

_FIELDS = {"tool": ("tools", "no_tools")}
"""By kind of plugin, the settings that name one; else the setting is called like the kind."""
_LISTS = _FIELDS["tool"]


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
        raise UsageError(f"{error.message}{origin}", hint=error.hint) from error


def _origin(settings: Settings, error: UnknownPluginError) -> str:
    if error.kind == "goal":
        for name, entry in settings.config.goals.items():
            if name == settings.config.goal and entry.get(USE) == error.name:
                return origin_of(settings.config.cwd, f"goals.{name}.{USE}", error.name)
    for field in _FIELDS.get(error.kind, (error.kind,)):
        value: Any = getattr(settings.config, field, None)
        if value == error.name or (field in _LISTS and _is_named(error.name, value or ())):
            return origin_of(settings.config.cwd, field, value)
    return ""


def _is_named(name: str, names: Iterable[str]) -> bool:
    """Whether a list of tools names it, with or without a sign."""
    return name in {each.lstrip("+-") for each in names}
