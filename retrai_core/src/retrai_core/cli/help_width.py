"""How wide help pages are."""

from __future__ import annotations

import os
import sys

_WIDEST = 80
_NARROWEST = 50
_MARGIN = 2


def help_width() -> int:
    """The columns of a help page, by click's own rule.

    click asks `shutil`, which imports every archive format there is; a help page has no time.
    """
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() else 0
    if width == 0 and sys.__stdout__ is not None:
        try:
            width = os.get_terminal_size(sys.__stdout__.fileno()).columns
        except (OSError, ValueError):  # not a terminal, or closed
            width = 0
    return max(min(width or _WIDEST, _WIDEST) - _MARGIN, _NARROWEST)
