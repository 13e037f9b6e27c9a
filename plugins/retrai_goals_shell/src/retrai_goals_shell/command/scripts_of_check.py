"""Finds files that belong to a check because of how it uses them: scripts that a command only runs,
and data that only these scripts read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from retrai_core import Suspicion
from retrai_goal_support import project_files, text_of

from ..expectations.in_files import sourced_files
from ..expectations.in_shell import compared_with, files_only_run, files_read_by_loops
from ..makefile import makefile_text, recipe_of
from .files import CODE, MAX_TEXT, named_files

_RUNS_TARGET = re.compile(
    r"make(?: -\w)* (?P<target>[\w.-]+)|just (?P<recipe>[\w-]+)"
    r"|(?:npm|pnpm|yarn|bun)(?: -\S+)*(?: run)?(?: -\S+)* (?P<script>[\w:.-]+)(?: -\S+)*"
)
_RECIPE_OF_JUST = r"^@?{}(?![\w-])[^:\n]*:(?!=).*\n(?P<lines>(?:[ \t]+.*\n|\n)*)"
_MUTE = re.compile(r"^[ \t]*[@+-]+", re.MULTILINE)
_CHANGES_TO = re.compile(r"\bcd ([\w./-]+)")
_SCRIPT = re.compile(r"\.(?:ba)?sh$")
_SHEBANG = re.compile(r"#!.*\b(?:ba|da)?sh\b")
_DRIVES = re.compile(
    r"^[ \t]*(?:assert\b.*==|assert\.\w+\()|\bsubprocess\.(?:run|check_)"
    r"|\b(?:exec(?:File)?|spawn)Sync\(",
    re.MULTILINE,
)
"""Starts another program, or asserts what one answered."""
_DATA = re.compile(r"\.(?:json|jsonl|ndjson|csv|tsv|txt|ya?ml|toml|dat)$")
_SETTINGS = re.compile(r"\.(?:toml|json|ya?ml|ini|cfg|conf)$")
_ASSIGNS = re.compile(r"(?:[ \t]*(?:(?:export[ \t]+)?\w+=[^\n;|&()`]*|#[^\n]*)?\n)+")
_MAX_DEPTH = 3


def resolve_target(command: str, folder: Path) -> str:
    """What make, just or npm run for a shell line that only starts them; else the line.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "Makefile").write_text("ci: all\\n\\tsh tools/all.sh\\n")
        >>> resolve_target("make -s ci", folder)
        'sh tools/all.sh'
    """
    found = _RUNS_TARGET.fullmatch(command.strip())
    if not found:
        return command
    if found["target"]:
        return recipe_of(makefile_text(folder), found["target"]) or command
    if found["recipe"]:
        names = ("justfile", "Justfile", ".justfile")
        text = next(filter(None, (text_of(folder / name) for name in names)), "")
        recipe = re.search(_RECIPE_OF_JUST.format(found["recipe"]), text + "\n", re.MULTILINE)
        return recipe["lines"] if recipe else command
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        return str(json.loads(text_of(folder / "package.json"))["scripts"][found["script"]])
    return command


def scripts_of_check(line: str, project: Path, path: str = ".") -> list[str]:
    """The scripts that a shell line only runs, those that these run, programs that test the
    project, and the data that only these name.

    Example:
        >>> import tempfile
        >>> project = Path(tempfile.mkdtemp())
        >>> for name, text in (("ci.sh", "bash a.sh"), ("a.sh", "./run | grep 5"), ("run", "")):
        ...     _ = (project / name).write_text(text)
        >>> scripts_of_check("bash ci.sh", project)
        ['ci.sh', 'a.sh']
    """
    found: dict[str, None] = {}
    lines = [line]
    for _ in range(_MAX_DEPTH):
        scripts = [
            name
            for each in lines
            for name in _run_by(each, project, path)
            if name not in found and _is_check(name, project)
        ]
        found |= dict.fromkeys(scripts)
        lines = [text_of(project / name, MAX_TEXT) for name in scripts if _is_shell(name, project)]
    data = [name for script in found for name in _data_of(script, project, path)]
    sources = [name for name in _code_in(project) if name not in found] if data else []
    said = "\n".join(text_of(project / name, MAX_TEXT) for name in sources)
    alone = (name for name in data if PurePosixPath(name).name not in said)
    return list(dict.fromkeys([*found, *alone]))


def read_by_check(texts: Sequence[str], changed: Iterable[str]) -> Iterator[Suspicion]:
    """Changed files that the check compares printed output with, and settings that it names. It may
    be a golden file, or one that is generated and has to be up to date.

    Args:
        texts: what the shell runs, and the scripts of the check.
        changed: files, relative to the folder that they run in.
    """
    found = [pattern for text in texts for pattern in compared_with(text)]
    # A mere variable means any file.
    patterns = [
        each.removeprefix("./") for each in found if re.search(r"\w", each[each.rfind("/") :])
    ]
    for path in changed:
        if any(fnmatch(path, each) and each.count("/") == path.count("/") for each in patterns):
            yield Suspicion(path, 1, "was changed, and the check compares output with it")
        elif _SETTINGS.search(path) and any(PurePosixPath(path).name in text for text in texts):
            yield Suspicion(path, 1, "was changed, and the check reads it")


def _run_by(line: str, project: Path, path: str) -> Iterator[str]:
    commands = _MUTE.sub("", line)
    folders = [path, *(str(PurePosixPath(path, each)) for each in _CHANGES_TO.findall(commands))]
    for pattern in dict.fromkeys(files_only_run(commands)):
        for folder in folders:
            yield from _matching(pattern, project, folder)


def _matching(pattern: str, project: Path, folder: str) -> list[str]:
    """The project's files that a word of a shell names."""
    if "*" not in pattern:
        return named_files(pattern, project, folder)
    place = PurePosixPath(folder, pattern)
    if place.is_absolute() or ".." in place.parts:
        return []
    with suppress(ValueError, NotImplementedError, OSError):
        found = sorted((project / folder).glob(pattern))
        return [str(each.relative_to(project)) for each in found if each.is_file()]
    return []


def _is_shell(name: str, project: Path) -> bool:
    return bool(_SCRIPT.search(name) or _SHEBANG.match(text_of(project / name, MAX_TEXT)))


def _is_check(name: str, project: Path) -> bool:
    """Whether a file that is run checks others: a shell's script, or a program that asks them."""
    if _is_shell(name, project):
        return True
    text = text_of(project / name, MAX_TEXT)
    if not _DRIVES.search(text) or PurePosixPath(name).stem == "__main__":
        return False
    stems = {PurePosixPath(each).stem for each in _code_in(project) if each != name}
    return not stems.isdisjoint(set(re.findall(r"\w+", text)) - {"__init__", "__main__", "index"})


def _code_in(project: Path) -> list[str]:
    return [name for name in project_files(project) if CODE.search(name)]


def _data_of(script: str, project: Path, path: str) -> Iterator[str]:
    """Data that a check goes through, and settings that it takes from a file."""
    text = text_of(project / script, MAX_TEXT)
    if not _is_shell(script, project):
        for folder in (path, str(PurePosixPath(script).parent)):
            yield from filter(_DATA.search, named_files(text, project, folder))
        return
    for word in files_read_by_loops(text):
        yield from _matching(word, project, path)
    for word in sourced_files(text):
        for name in _matching(word, project, path):
            if _ASSIGNS.fullmatch(text_of(project / name, MAX_TEXT) + "\n"):
                yield name
