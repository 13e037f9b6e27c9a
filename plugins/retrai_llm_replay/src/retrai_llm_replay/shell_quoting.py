"""Where in a shell line a character stands, so that a path put there is quoted as that place needs.

This follows quotes, comments and here-documents of POSIX shells. A command substitution inside
double quotes counts as double-quoted: right for every path without blanks.
"""

from __future__ import annotations

import re
from enum import Enum

HEREDOC = re.compile(r"<<(?P<dash>-?)[ \t]*(?P<quote>['\"\\]?)(?P<word>\w+)['\"]?")


class Place(Enum):
    """How the shell reads a character."""

    BARE = "bare"
    SINGLE_QUOTED = "single-quoted"
    DOUBLE_QUOTED = "double-quoted"
    LITERAL_HEREDOC = "here-document with a quoted end word"
    EXPANDING_HEREDOC = "here-document with a plain end word"


def places(command: str) -> list[Place]:
    """The place of each character of a shell line."""
    found: list[Place] = []
    waiting: list[re.Match[str]] = []
    position = 0
    while position < len(command):
        char = command[position]
        place = Place.BARE
        end = position + 1
        if char == "\\":
            end = position + 2
        elif char == "'":
            place, end = Place.SINGLE_QUOTED, end_of_single(command, position)
        elif char == '"':
            place, end = Place.DOUBLE_QUOTED, end_of_double(command, position)
        elif char == "#" and starts_word(command, position):
            end = end_of_line(command, position)
        elif command.startswith("<<<", position):
            end = position + 3
        elif heredoc := HEREDOC.match(command, position):
            waiting.append(heredoc)
            end = heredoc.end()
        elif char == "\n" and waiting:
            found.append(Place.BARE)
            for heredoc in waiting:
                body_end = end_of_heredoc(command, len(found), heredoc)
                found += [heredoc_place(heredoc)] * (body_end - len(found))
            waiting = []
            position = len(found)
            continue
        end = min(end, len(command))
        found += [place] * (end - position)
        position = end
    return found


def end_of_single(command: str, start: int) -> int:
    closing = command.find("'", start + 1)
    return len(command) if closing < 0 else closing + 1


def end_of_double(command: str, start: int) -> int:
    position = start + 1
    while position < len(command):
        if command[position] == "\\":
            position += 2
        elif command[position] == '"':
            return position + 1
        else:
            position += 1
    return len(command)


def starts_word(command: str, position: int) -> bool:
    return position == 0 or command[position - 1] in " \t\n;|&("


def end_of_line(command: str, position: int) -> int:
    newline = command.find("\n", position)
    return len(command) if newline < 0 else newline


def end_of_heredoc(command: str, start: int, heredoc: re.Match[str]) -> int:
    """The position after the body and its end word."""
    indent = r"\t*" if heredoc["dash"] else ""
    closing = re.compile(rf"^{indent}{re.escape(heredoc['word'])}$", re.MULTILINE)
    match = closing.search(command, start)
    return match.end() if match else len(command)


def heredoc_place(heredoc: re.Match[str]) -> Place:
    return Place.LITERAL_HEREDOC if heredoc["quote"] else Place.EXPANDING_HEREDOC


def quote_for(path: str, place: Place) -> str:
    """`path` written so that the shell reads it as it is in `place`."""
    if place is Place.BARE:
        return re.sub(r"([^\w@%+=:,./-])", r"\\\1", path)
    if place is Place.SINGLE_QUOTED:
        return path.replace("'", "'\\''")
    if place is Place.DOUBLE_QUOTED:
        return re.sub(r'([$`"\\])', r"\\\1", path)
    if place is Place.EXPANDING_HEREDOC:
        return re.sub(r"([$`\\])", r"\\\1", path)
    return path
