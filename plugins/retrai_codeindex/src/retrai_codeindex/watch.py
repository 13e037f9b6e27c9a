"""`retrai index --watch`: updates the index while files change."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from retrai_core import UsageError

from .files import NEVER_WALKED, VENDORED
from .index import Index
from .indexer import Update

_NOT_WATCHED = NEVER_WALKED | VENDORED


def watch_project(index: Index, report: Callable[[Update], None]) -> None:
    """Update the index after each change, until Ctrl-C.

    Raises:
        UsageError: `watchfiles` is not installed.
    """
    try:
        from watchfiles import Change, watch
    except ImportError:
        raise UsageError(
            "--watch needs the package watchfiles",
            hint="`pip install 'retrai-codeindex[watch]'` installs it",
        ) from None

    def counts(_: Change, path: str) -> bool:
        return _NOT_WATCHED.isdisjoint(path.split("/"))

    with suppress(KeyboardInterrupt):
        for _ in watch(index.project, watch_filter=counts):
            update = index.update()
            if not update.is_empty:
                report(update)
