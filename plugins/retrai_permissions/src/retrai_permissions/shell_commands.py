"""What a shell line runs: every simple command in it, wherever it stands.

bash's own grammar (tree-sitter) finds the commands in lists, pipelines, substitutions, loops,
functions and here-documents; quoting is taken away, so that `r\\m`, `'r'm` and `rm` are one name.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh", "ash", "busybox", "fish"})
EVALUATORS = frozenset({"eval", "source", "."})
_MAX_DEPTH = 10
_MAY_HOLD_LINES = frozenset(
    {
        "string",
        "raw_string",
        "ansi_c_string",
        "translated_string",
        "command_substitution",
        "process_substitution",
        "expansion",
        "arithmetic_expansion",
        "array",
        "heredoc_redirect",
    }
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_PARSING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command: its text without quotes, and whether it is made at run time."""

    text: str
    dynamic: bool = False


Command = tuple[Word, ...]
"""A simple command: its name and arguments. An empty one is what could not be read."""

OPAQUE: Command = ()


def commands_of(line: str, depth: int = 0) -> list[Command]:
    """Every simple command of a shell line, those in the strings of `bash -c` and `eval` too.

    What cannot be known (a syntax error, a script made at run time or read from a pipe) is
    `OPAQUE`, once for each place.

    Example:
        >>> [" ".join(word.text for word in c) for c in commands_of("a && bash -c 'r\\\\m x'")]
        ['a', 'bash -c r\\\\m x', 'rm x']
    """
    if depth > _MAX_DEPTH:
        return [OPAQUE]
    root = _parsed(line)
    found: list[Command] = [OPAQUE] if root.has_error else []
    for node in _walk(root):
        if node.type == "command":
            command = tuple(_words(node, line))
            found.append(command)
            if _hides_a_line_break(node, line):
                found.append(OPAQUE)
            found += _inner(command, depth)
        elif node.type == "heredoc_redirect" and not _ends_as_in_bash(node, line):
            found.append(OPAQUE)
    return found


def does_more_than_run(line: str) -> bool:
    """Whether the line sets a variable or writes a file, which no command's name tells.

    Example:
        >>> does_more_than_run("echo x > ~/.bashrc"), does_more_than_run("PATH=/tmp git status")
        (True, True)
        >>> does_more_than_run("pytest 2>&1 > /dev/null | tail < list.txt")
        False
    """
    return any(
        node.type == "variable_assignment" or (node.type == "file_redirect" and _writes(node, line))
        for node in _walk(_parsed(line))
    )


def _writes(redirect: Node, line: str) -> bool:
    operator = next((child.type for child in redirect.children if not child.is_named), "")
    target = redirect.child_by_field_name("destination")
    text = _text(target, line) if target is not None else ""
    duplicates = operator in (">&", "<&") and re.fullmatch(r"[0-9]+|-", text)
    return operator not in ("<", "<&-", ">&-") and not duplicates and text != "/dev/null"


def _parsed(line: str) -> Node:
    """The root of the line's tree, whose offsets count characters of `line`.

    The grammar's scanner asks C's `isalpha` about characters that it has no table for, which ends
    the process now and then. To bash they are letters of words and nothing else, so the scanner is
    shown a dot for each.
    """
    with _PARSING:
        return _parser().parse(_BEYOND_ASCII.sub(".", line).encode()).root_node


def _text(node: Node, line: str) -> str:
    return line[node.start_byte : node.end_byte]


@cache
def _parser() -> Parser:
    # Loaded with the first command and not with the gate, and once: a parser keeps no text.
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def _walk(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending += reversed(current.named_children)


def _hides_a_line_break(command: Node, line: str) -> bool:
    """Whether a line ends within the command: the grammar misses it before a backslash."""
    start = command.start_byte
    between = list(_text(command, line))
    for node in _walk(command):
        if node.type in _MAY_HOLD_LINES:
            length = node.end_byte - node.start_byte
            between[node.start_byte - start : node.end_byte - start] = "." * length
    return re.search(r"(?<!\\)(?:\\\\)*\n", "".join(between)) is not None


def _ends_as_in_bash(heredoc: Node, line: str) -> bool:
    """Whether a here-document ends at the line that bash ends it at.

    The grammar takes a line that only begins with the word, and the dots that letters beyond ASCII
    are shown as are all alike: what stands behind such a line could be hidden.
    """
    ends = [node for node in heredoc.children if node.type in ("heredoc_start", "heredoc_end")]
    word, *rest = [_text(node, line) for node in ends]
    before, behind = line[: ends[-1].start_byte], line[ends[-1].end_byte :]
    if _text(heredoc, line).startswith("<<-"):
        before = before.rstrip("\t")
    alone = before.endswith("\n") and behind[:1] in ("", "\n")
    return alone and rest == [re.sub(r"[\\'\"]", "", word)]


def _words(command: Node, line: str) -> Iterator[Word]:
    """The words of a command node; assignments before it and redirections are not among them."""
    for child in command.named_children:
        if child.type == "command_name":
            yield _word(child.named_children[0] if child.named_children else child, line)
        elif child.type not in ("variable_assignment", "file_redirect", "herestring_redirect"):
            yield _word(child, line)


def _word(node: Node, line: str) -> Word:
    text = _text(node, line)
    match node.type:
        case "raw_string":
            return Word(text[1:-1])
        case "word" | "number":
            return Word(_ESCAPE.sub(r"\1", text), dynamic=bool(re.search(r"[*?\[{~]", text)))
        case "string":
            parts = [_word(child, line) for child in node.named_children]
            if all(child.type == "string_content" for child in node.named_children):
                return Word(_ESCAPE.sub(r"\1", text[1:-1]))
            return Word("".join(part.text for part in parts), dynamic=True)
        case "string_content":
            return Word(_ESCAPE.sub(r"\1", text))
        case "concatenation":
            parts = [_word(child, line) for child in node.named_children]
            joined = "".join(part.text for part in parts)
            return Word(joined, dynamic=any(part.dynamic for part in parts))
        case _:
            # An expansion, a substitution, `$'...'`: known only when it runs.
            return Word(text, dynamic=True)


def _inner(command: Command, depth: int) -> list[Command]:
    """The commands inside the string that a shell or `eval` is given."""
    for index, word in enumerate(command):
        name = word.text.rsplit("/", 1)[-1]
        rest = command[index + 1 :]
        if name in EVALUATORS and index == 0:
            if name != "eval" or any(part.dynamic for part in rest):
                return [OPAQUE]
            return commands_of(" ".join(part.text for part in rest), depth + 1)
        if name in SHELLS:
            return _of_shell(rest, depth)
    return []


def _of_shell(arguments: Command, depth: int) -> list[Command]:
    """What a shell runs: the string after `-c`, else a file or its input, which are not known."""
    for index, word in enumerate(arguments):
        if re.fullmatch(r"-[a-z]*c[a-z]*", word.text) and index + 1 < len(arguments):
            script = arguments[index + 1]
            return [OPAQUE] if script.dynamic else commands_of(script.text, depth + 1)
    return [OPAQUE]
