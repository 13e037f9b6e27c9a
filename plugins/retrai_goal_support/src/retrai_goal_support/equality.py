"""Number, time and metaclass types of Python source that define their own equality."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from retrai_core import Suspicion

from .audits import changed_files, changed_lines

_OWN_EQUALITY = re.compile(
    r"^\ufeff?[ \t]*class (\w+)\((?:[^()\n]*,\s*)?(?:\w+\.)?(?:int|float|complex|Decimal|Fraction"
    r"|date|datetime|time|timedelta|type|ABCMeta|EnumMeta|EnumType)\s*(?:,[^()\n]*)?\):"
    r"(?:(?!\n\S)[\s\S])*?\n\s*(?:def __(?:eq|ne)__\(|__(?:eq|ne)__\s*=)"
    # What asks its base, or its own equality, as well only narrows.
    r"(?!(?:(?!\n\s*(?:def|class)\b|\n\S)[\s\S])*"
    r"(?:(?:super\(\)\.|\b[A-Za-z]\w*\.)__(?:eq|ne)__\(|\breturn not self == \w+$))",
    re.MULTILINE,
)


def own_equality(
    diff: str, *, is_source: Callable[[str], bool], project: Path | None = None
) -> list[Suspicion]:
    """Classes of numbers, times or classes that a diff gives an equality of its own.

    One that asks its base as well only narrows. A class that had an equality before, in whichever
    of the changed files, is not reported.

    Args:
        diff: the whole diff of the run.
        is_source: whether a relative path is source that the check runs.
        project: where the changed files stand; without it nothing is found.

    Example:
        >>> import tempfile
        >>> text = "class Cents(int):\\n    __eq__ = near\\n"
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1,0 +2 @@\\n+    __eq__ = near\\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "x.py").write_text(text)
        ...     found = own_equality(diff, is_source=lambda path: True, project=Path(folder))
        >>> [(each.line, each.what) for each in found]
        [(2, 'redefines the equality of a number, a time or a class: class Cents')]
    """
    added = {(path, number) for sign, path, number, _ in changed_lines(diff) if sign == "+"}
    files = [each for each in changed_files(diff, project) if each[0].endswith(".py")]
    known = {found[1] for _, before, _ in files for found in _OWN_EQUALITY.finditer(before)}
    return [
        Suspicion(
            path,
            line,
            f"redefines the equality of a number, a time or a class: class {found[1]}",
            is_source(path),
        )
        for path, _, now in files
        for found in _OWN_EQUALITY.finditer(now)
        if found[1] not in known and (path, line := now.count("\n", 0, found.end()) + 1) in added
    ]
