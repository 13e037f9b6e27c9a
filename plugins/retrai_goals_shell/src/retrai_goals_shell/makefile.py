"""Reads a Makefile far enough to know a target and what its recipe runs."""

from __future__ import annotations

import re
from pathlib import Path

from retrai_goal_support import text_of

NAMES = ("GNUmakefile", "makefile", "Makefile")
"""As GNU make looks for them; the first that is there is read."""
MAKEFILES = [*NAMES, "*.mk"]

_RULE = re.compile(
    r"^ *(?P<targets>[^\s#:=][^:=#]*?)\s*::?(?!=)\s*"
    r"(?P<needs>(?:[^=#;($]|\$\([^()]*\)|\$\{[^{}]*\}|\$(?!\([^()]*\)|\{[^{}]*\}).)*)(?:;(?P<recipe>.*)|#.*)?$"
)
_ADDS_RULES = re.compile(
    r"^\s*[-s]?include\b|\$[({](?:eval|call|foreach)\b|^[^#\t\n]*[$%][^\t\n]*:(?!=)"
    r"|^\.DEFAULT\b",
    re.MULTILINE,
)
"""Includes, macros, and rules for variables, patterns and `.DEFAULT`."""
_VARIABLE = re.compile(r"^(?P<name>\w+)\s*[:?]?:?=[ \t]*(?P<value>[^\n#]*)", re.MULTILINE)
_VALUE = re.compile(r"\$(?:\((\w+)\)|\{(\w+)\})")
_MAX_DEPTH = 3
_MAX_CHARS = 200_000
_INCLUDE = re.compile(r"^[ ]*[-s]?include\s+(.+)$", re.MULTILINE)


def find_makefile(folder: Path) -> Path | None:
    """The Makefile that make would read; None when there is none."""
    try:
        there = {path.name for path in folder.iterdir() if path.is_file()}
    except OSError:
        return None
    return next((folder / name for name in NAMES if name in there), None)


def makefile_text(folder: Path) -> str:
    """The text of the Makefile that make would read in a folder; empty where there is none."""
    makefile = find_makefile(folder)
    return text_of(makefile) if makefile else ""


def has_target(text: str, target: str) -> bool:
    """Whether a rule for `target` stands in the text.

    Example:
        >>> has_target("test: all\\n\\t./run\\n", "test"), has_target("x = test:\\n", "test")
        (True, False)
    """
    return any(target in targets for targets, _, _ in _rules(text))


def lacks_target(folder: Path, target: str) -> bool:
    """Whether the Makefile of a folder certainly has no way to make a target: no line could name
    it, or add rules that are not looked at, and there is no file that it could be made from."""
    text = makefile_text(folder)
    name = rf"(?<![\w.-]){re.escape(target)}(?![\w.-])"
    is_named = re.search(rf"^[^#\t\n]*{name}[^=\n]*:", text, re.MULTILINE)
    return not (is_named or _ADDS_RULES.search(text) or any(folder.glob(f"{target}.*")))


def included_files(text: str) -> list[str]:
    """Globs of what the Makefile includes, by plain names; make reads those that come later too.

    Example:
        >>> included_files("-include local.mk config/*.mk $(DEPS)\\n")
        ['/local.mk', '/config/*.mk']
    """
    words = [word for found in _INCLUDE.finditer(text) for word in found[1].split()]
    return [f"/{word}" for word in words if not re.search(r"[$%()]|^/|\.\.", word)]


def recipe_of(text: str, target: str) -> str:
    """The recipe lines of a target and of what it needs, with the values of plain variables.

    Example:
        >>> recipe_of("RUN = sh ci.sh\\ntest:\\n\\t@$(RUN) $@\\n", "test")
        '@sh ci.sh $@'
    """
    recipe = "\n".join(line for _, lines in _needed(text, target) for line in lines)
    values = {found["name"]: found["value"] for found in _VARIABLE.finditer(text)}
    for _ in range(_MAX_DEPTH):
        recipe = _VALUE.sub(lambda found: values.get(found[1] or found[2], found[0]), recipe)
        recipe = recipe[:_MAX_CHARS]
    return recipe


def made_for(text: str, target: str) -> list[str]:
    """What a target needs and the Makefile says how to make, by plain names.

    Example:
        >>> made_for("test: app .ok\\napp: app.c\\n\\tcc app.c\\n.ok: app\\n\\t./app\\n", "test")
        ['.ok', 'app']
    """
    needed = _needed(text, target)
    names = {name for targets, recipe in needed if recipe for name in targets} - {target}
    return sorted(n for n in names if not re.search(r"[%$()]|^/|\.\.", n))


def _needed(text: str, target: str) -> list[tuple[list[str], list[str]]]:
    """The rules for a target and for what it needs: their targets, their recipe lines."""
    rules = _rules(text)
    found: list[tuple[list[str], list[str]]] = []
    names = [target]
    for name in names:
        for targets, needs, recipe in rules:
            if name in targets:
                found.append((targets, recipe))
                names += [each for each in dict.fromkeys(needs) if each not in names]
    return found


def _rules(text: str) -> list[tuple[list[str], list[str], list[str]]]:
    """Each rule: its targets, what they need, its recipe lines."""
    rules: list[tuple[list[str], list[str], list[str]]] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            if rules:
                rules[-1][2].append(line.strip())
        elif found := _RULE.match(line):
            recipe = [found["recipe"].strip()] if found["recipe"] else []
            needs = found["needs"].replace("|", " ").split()
            rules.append((found["targets"].split(), needs, recipe))
    return rules
