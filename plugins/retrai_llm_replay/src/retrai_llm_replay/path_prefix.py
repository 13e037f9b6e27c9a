"""Turns the paths of a recorded run into paths of this run's project."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from .shell_quoting import places, quote_for


class PathPrefix:
    """Replaces absolute paths that meant the project where a run was recorded.

    Args:
        prefixes: those paths (`/testbed`).
        project: the absolute path of this run's project.

    Example:
        >>> mapping = PathPrefix(["/testbed"], Path("/home/me/app"))
        >>> mapping.in_shell("cd /testbed && ls /testbed2 -I/testbed/include")
        'cd /home/me/app && ls /testbed2 -I/home/me/app/include'
        >>> mapping.in_argument("/testbed/src/a.py")
        'src/a.py'
    """

    def __init__(self, prefixes: Sequence[str], project: Path) -> None:
        self.project = str(project)
        cleaned = {prefix.rstrip("/") for prefix in prefixes} - {""}
        longest_first = sorted(cleaned, key=lambda prefix: (-len(prefix), prefix))
        self._pattern = prefix_pattern(longest_first) if longest_first else None

    def in_shell(self, command: str) -> str:
        """A shell line with the project's absolute path, quoted as each place needs it."""
        if self._pattern is None or not self._pattern.search(command):
            return command
        where = places(command)
        return self._pattern.sub(
            lambda match: quote_for(self.project, where[match.start()]), command
        )

    def in_argument(self, value: str) -> str:
        """An argument of a tool that is no shell.

        A value that is such a path as a whole becomes relative, which file tools want; elsewhere
        (the text of a file to write, say) the project's absolute path is put in.
        """
        if self._pattern is None:
            return value
        match = self._pattern.match(value)
        if match and "\n" not in value:
            rest = value[match.end() :]
            if not rest.strip("/"):
                return "."
            if rest.startswith("/"):
                return rest.lstrip("/")
        return self._pattern.sub(lambda _: self.project, value)

    def in_arguments(self, args: Mapping[str, JsonValue], *, shell: bool) -> dict[str, JsonValue]:
        """All strings in a call's arguments, however deep."""
        replace = self.in_shell if shell else self.in_argument
        return {name: replace_strings(value, replace) for name, value in args.items()}


def prefix_pattern(prefixes: Sequence[str]) -> re.Pattern[str]:
    """Matches a prefix that stands as a path of its own.

    Before it: no part of a longer path or name, except a one-letter flag (`-I/testbed`) and
    `file://`. After it: nothing that would make its last name longer (`/testbed2`, `/testbed.bak`).
    """
    names = "|".join(re.escape(prefix) for prefix in prefixes)
    before = r"(?:(?<![\w./~})-])|(?<=[\s]-[A-Za-z])|(?<=file://))"
    return re.compile(rf"{before}(?:{names})(?![\w-]|\.\w)")


def replace_strings(value: JsonValue, replace: Callable[[str], str]) -> JsonValue:
    if isinstance(value, str):
        return replace(value)
    if isinstance(value, list):
        return [replace_strings(item, replace) for item in value]
    if isinstance(value, dict):
        return {key: replace_strings(item, replace) for key, item in value.items()}
    return value
