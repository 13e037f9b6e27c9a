"""What looks like silencing pyright instead of fixing types."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

from retrai_core import Suspicion
from retrai_goal_support import (
    Trick,
    audit_lines,
    changed_files,
    changed_lines,
    new_tricks,
    text_of,
)

from ..diff_audit import IGNORES, is_source, reported
from ..python_source import Definition, definitions, parse

TRICKS = (
    *IGNORES,
    reported(r"\bno_type_check\b", "switches the check of a function off"),
    reported(r"\bif not TYPE_CHECKING\b", "hides code from the type checker"),
    reported(r"\breport\w+\"?\s*[:=]\s*(?:false|\"none\"|'none')", "switches a rule off"),
    reported(r"^\s*\"?(?:exclude|ignore|strict|include)\"?\s*[:=]", "changes what is checked"),
    reported(r"typeCheckingMode", "changes how strictly is checked"),
    Trick.reaching(
        r"\brunpy\.run_\w+\(|(?<![\w.])(?<!def )(?:exec\(|eval\(\s*[\"'])",
        "runs code that no type checker follows",
    ),
)
_NEW_TRICKS = (
    Trick.reaching(
        r"\bdef __(?:instance|subclass)check__\(", "says itself which objects are of a class"
    ),
)
"""These count only where no removed line did the same: such a method may move, or get types."""
_NAME = r"(?:\w+\.)*Any\b"
_ANY = re.compile(rf"(?<=[\[ ])[\"']?(?:(?:\w+\.)*Optional\[{_NAME}\]|{_NAME}(?: \| None)?)[\"']?")
_CAST = re.compile(rf"\bcast\(\s*[\"']?{_NAME}")
_HIDDEN_FILE = re.compile(r"(?:^|/)\.[^/].*\.pyi?$")
_LOADS = re.compile(r"\bspec_from_file_location\(")
_DEFINES = re.compile(r"^\s*(?:async\s+def|def|class)\s+(\w+)", re.MULTILINE)


def audit_types(diff: str) -> list[Suspicion]:
    """Added lines that silence the type checker, and stubs that it would believe.

    Example:
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1 +1 @@\\n-a = f()\\n+a = f()  # type: ignore\\n"
        >>> [(found.path, found.line) for found in audit_types(diff)]
        [('x.py', 1)]
    """
    added = [path for sign, path, _, _ in changed_lines(diff) if sign == "+"]
    stubs = [path for path in dict.fromkeys(added) if path.endswith(".pyi")]
    return [
        *audit_lines(diff, [*TRICKS, *new_tricks(diff, _NEW_TRICKS)], is_source=is_source),
        *(Suspicion(path, 1, "adds to a stub, which pyright believes") for path in stubs),
    ]


def became_any(diff: str) -> Iterator[Suspicion]:
    """Changed lines with a type that is `Any` now, and new casts to it.

    Only what a repair hardly needs is told. A new annotation with `Any` is how strict projects name
    what an untyped library gives.

    Args:
        diff: the whole diff of the run.
    """
    removed: defaultdict[str, list[str]] = defaultdict(list)
    added: list[tuple[str, int, str]] = []
    for sign, path, number, line in changed_lines(diff):
        text = line.strip()
        if sign == "-":
            removed[path].append(text)
        elif path.endswith((".py", ".pyi")):
            added.append((path, number, text))
    for path, number, text in added:
        if text in removed[path]:
            continue
        if _CAST.search(text):
            yield Suspicion(path, number, "a new cast to `Any`, which pyright believes")
        if not _ANY.search(text):
            continue
        # What else could have stood for each `Any`: a type, or one in brackets.
        before = re.compile("(.+)".join(map(re.escape, _ANY.split(text))))
        for old in removed[path]:
            found = before.fullmatch(old)
            if found and not any(_ANY.search(f" {part}") for part in found.groups()):
                what = f"`{old[:60]}` became `{text[:60]}`, which pyright believes"
                yield Suspicion(path, number, what)
                break


def _defined(text: str) -> set[str]:
    """The names of the functions and classes of a module, also in syntax of a newer Python than
    retrai's own."""
    tree = parse(text)
    if not tree.body:
        return set(_DEFINES.findall(text))
    return {node.name for node in ast.walk(tree) if isinstance(node, Definition)}


def moved_out_of_sight(diff: str, project: Path, checked: Collection[str]) -> Iterator[Suspicion]:
    """Functions and classes that were taken from the checked files and stand elsewhere now: in an
    excluded file, or in a text.

    What is deleted for good, renamed, or moved between checked files is nothing.

    Args:
        diff: the whole diff of the run.
        project: where the changed files stand.
        checked: files, relative, that the type checker looks at.
    """
    files = list(changed_files(diff, project))
    gone = {each.name for _, before, _ in files for each in definitions(before)}
    if gone:
        gone -= {name for path in checked for name in _defined(text_of(project / path))}
    loads = any(_LOADS.search(now) for *_, now in files)
    for path, before, _ in files:
        if loads and not before and _HIDDEN_FILE.search(path):
            what = "is loaded from where no type checker looks"
            yield Suspicion(path, 1, what, reaches_runner=True)
    for sign, path, number, line in changed_lines(diff):
        found = _DEFINES.match(line) if sign == "+" else None
        if found and found[1] in gone:
            what = f"moves code to where no type checker looks: {line.strip()[:100]}"
            yield Suspicion(path, number, what, reaches_runner=True)
