"""The rules: `TOOL`, `TOOL: PATTERN` or `needs:NEED`, under allow, ask and deny."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from .shell_commands import OPAQUE, Command, commands_of, does_more_than_run

NEEDS = "needs:"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        text: as the user wrote it.
        tool: a tool's name, a glob of names, or `needs:NEED`.
        pattern: what the call's command or path must look like; empty for any call.
    """

    text: str
    tool: str
    pattern: str = ""

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule.

        Example:
            >>> Rule.parse("bash_exec: git push")
            Rule(text='bash_exec: git push', tool='bash_exec', pattern='git push')
        """
        if text.startswith(NEEDS):
            return cls(text, text.strip())
        tool, _, pattern = text.partition(":")
        return cls(text, tool.strip(), pattern.strip())

    def is_about(self, name: str, needs: frozenset[str]) -> bool:
        """Whether the rule is about this tool at all."""
        if self.tool.startswith(NEEDS):
            return self.tool.removeprefix(NEEDS).strip() in needs
        return fnmatchcase(name, self.tool)


def may_match(rule: Rule, args: Mapping[str, Any]) -> bool:
    """Whether the call may be what the rule means; what cannot be known may be anything.

    For rules that refuse or ask.
    """
    if not rule.pattern:
        return True
    line = args.get("command")
    if isinstance(line, str):
        return any(_may_be(command, rule.pattern) for command in commands_of(line))
    return any(fnmatchcase(text, rule.pattern) for text in _texts(args))


def surely_matches(rules: Sequence[Rule], args: Mapping[str, Any]) -> bool:
    """Whether everything that the call does is allowed by one of the rules.

    For rules that allow: each simple command of a shell line needs a rule that fits it, and what
    cannot be known fits none; nor does what the line does beside, setting variables (`PATH`,
    `LD_PRELOAD`) and writing files.
    """
    if any(not rule.pattern for rule in rules):
        return True
    line = args.get("command")
    if isinstance(line, str):
        commands = commands_of(line)
        if does_more_than_run(line):
            return False
        return bool(commands) and all(
            any(_surely_is(command, rule.pattern) for rule in rules) for command in commands
        )
    texts = _texts(args)
    return bool(texts) and all(
        any(fnmatchcase(text, rule.pattern) for rule in rules) for text in texts
    )


def _texts(args: Mapping[str, Any]) -> list[str]:
    """What a pattern is held against where there is no command: the path, else every text."""
    path = args.get("path")
    if isinstance(path, str):
        return [path.removeprefix("./")]
    return [value for value in args.values() if isinstance(value, str)]


def _may_be(command: Command, pattern: str) -> bool:
    """Whether the command, or one that it starts (`sudo`, `xargs`, `find -exec`), may fit."""
    if command == OPAQUE:
        return True
    wanted = pattern.split()
    return any(
        _fits(list(command[start:]), wanted, name=True, sure=False) for start in range(len(command))
    )


def _surely_is(command: Command, pattern: str) -> bool:
    return command != OPAQUE and _fits(list(command), pattern.split(), name=True, sure=True)


def _fits(words: list[Any], wanted: list[str], *, name: bool, sure: bool) -> bool:
    """Whether the words begin with what is wanted; a lone `*` stands for any number of words."""
    if not wanted:
        return True
    if wanted[0] == "*":
        rests = range(len(words) + 1)
        return any(_fits(words[i:], wanted[1:], name=False, sure=sure) for i in rests)
    if not words:
        return False
    word = words[0]
    if word.dynamic:
        fits = not sure
    else:
        texts = {word.text, word.text.rsplit("/", 1)[-1]} if name and not sure else {word.text}
        fits = any(fnmatchcase(text, wanted[0]) for text in texts)
    return fits and _fits(words[1:], wanted[1:], name=False, sure=sure)
