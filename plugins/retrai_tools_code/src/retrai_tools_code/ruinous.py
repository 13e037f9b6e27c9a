"""Shell lines that would ruin a machine, refused by name: a courtesy to the careless, no wall.

Whoever wants to can write any of them otherwise; the sandbox is what keeps commands in.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

_SEPARATORS = ";&|()\n"
_BEFORE_A_COMMAND = frozenset(
    {"sudo", "doas", "command", "exec", "nohup", "env", "time", "then", "do"}
)
_SYSTEM = ("bin", "boot", "dev", "etc", "home", "lib", "opt", "proc", "root", "sys", "usr", "var")
_HOME = ("~", "$HOME", "${HOME}")
_HARMLESS_DEVICES = re.compile(r"/dev/(?:null|zero|full|tty|std(?:in|out|err)|fd/\d+|shm/.+)$")
_DISK = re.compile(r">\s*/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk)")
_FORK_BOMB = re.compile(r"([\w:.]+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*;")


def why_ruinous(line: str) -> str | None:
    """What a shell line would ruin; None for every ordinary one.

    Example:
        >>> why_ruinous("cd build && sudo rm -rf /")
        '`rm` of / and all below it'
        >>> why_ruinous("rm -rf build ~/.cache/mine; echo 'rm -rf /'") is None
        True
    """
    if _FORK_BOMB.search(line):
        return "a fork bomb"
    if _DISK.search(line):
        return "writing over a disk"
    for name, *words in _commands(line):
        if why := _ruins(name, words):
            return why
    return None


def _ruins(name: str, words: Sequence[str]) -> str | None:
    if name in ("rm", "chmod", "chown") and _is_recursive(words):
        everything = next(filter(_is_everything, words), None)
        return f"`{name}` of {everything} and all below it" if everything else None
    if name == "wipefs" or name.split(".", maxsplit=1)[0] == "mkfs":
        device = next((word for word in words if word.startswith("/dev/")), None)
        return f"`{name}` on {device}" if device else None
    if name == "dd":
        target = next((word[3:] for word in words if word.startswith("of=/dev/")), None)
        return f"`dd` over {target}" if target and not _HARMLESS_DEVICES.match(target) else None
    return None


def _is_recursive(words: Sequence[str]) -> bool:
    short = any(re.match(r"-[a-zA-Z]*[rR]", word) for word in words)
    return short or "--recursive" in words


def _is_everything(word: str) -> bool:
    """The root, the home folder, or a folder of the system, with or without `/*`."""
    place = re.sub(r"/+", "/", word).removesuffix("*").rstrip("/.")
    if place == "":
        return word.startswith("/")
    known = {*_HOME, str(Path.home()), *(f"/{name}" for name in _SYSTEM)}
    return place in known


def _commands(line: str) -> Iterator[list[str]]:
    """The simple commands of a line, without quotes and what only stands before a command."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=_SEPARATORS)
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    words: list[str] = []
    try:
        for token in lexer:
            if set(token) <= set(_SEPARATORS):
                if words:
                    yield words
                words = []
            elif words or not (token in _BEFORE_A_COMMAND or re.match(r"\w+=", token)):
                words.append(token)
    except ValueError:
        return  # an open quote: bash refuses the line itself
    if words:
        yield words
