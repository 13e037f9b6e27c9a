"""What shell scripts expect: values that `test` compares with, in helpers too, and commands of a
script that stops at a failure. A grammar of bash (tree-sitter) reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from .edits import Edit, edited

Span = tuple[int, int]
Kind = Literal["shell", "command"]
Found = tuple[Kind, Span, Span, int]
"""What it is, where the expected literal stands, where what is compared with it, and which call of
the helper it is."""

_EQUAL = frozenset({"=", "==", "-eq"})
_UNEQUAL = frozenset({"!=", "-ne"})
_LITERAL = re.compile(r"""-?\d+(?:\.\d+)?|"[^"$`\\\n]*"|'[^'\\\n]*'|[A-Za-z][\w.-]*""")
_PARAMETER = re.compile(r'"?\$\{?(\w+)\}?"?')
_FAILS = re.compile(r"fail\w*|die|abort|false", re.IGNORECASE)
_COUNTS_FAILURES = re.compile(r"fail|err|bad|wrong|miss|status|^(?:rc|ret|code|ok)$", re.IGNORECASE)
_DOES_NOT_FAIL = re.compile(
    r"alias|cd|declare|echo|eval|exec|exit|export|local|printf|read|readonly|return|set|shift|source"
    r"|test|trap|unset|wait|\.|"
)
_BATS_TEST = re.compile(r"^@test .*\{$", re.MULTILINE)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")


def find_in_shell(text: str) -> list[Found]:
    """The expectations; none where it is no shell script.

    Example:
        >>> text = 'is() { [ "$1" = "$2" ] || exit 1; }\\nis "$(add 2 3)" 5\\n'
        >>> [(kind, text[a:b], text[c:d]) for kind, (a, b), (c, d), _ in find_in_shell(text)]
        [('shell', '5', '"$1"')]
    """
    script = _script(text)
    return list(script.search()) if script else []


def failing_script(text: str) -> str:
    """A script, so that it fails wherever it would exit with status 0; empty where that is not
    known.

    One that stops at a failure must do so at its end, too.

    Example:
        >>> failing_script("./run || bad=1\\nexit $bad\\n")
        './run || bad=1\\nexit 1\\nexit 1\\n'
        >>> failing_script("set -e\\n./run\\n")
        'set -e\\n./run\\nfalse\\nexit 0\\n'
    """
    script = _script(text)
    if script is None or script.is_bats or script.may_end or script.ends_elsewhere:
        return ""
    fails = "false\nexit 0" if script.sets_stop else "exit 1"
    edits = script.exits()
    if script.statements and _may_exit_with_0(script.statements[-1]):
        edits[-1] = (*edits[-1][:2], fails)
    return f"{edited(text, edits).rstrip()}\n{fails}\n"


def script_exits(text: str) -> list[Edit]:
    """Edits that have each `exit` of a script fail that need not."""
    script = _script(text)
    return script.exits() if script else []


def _script(text: str) -> _Script | None:
    # As long as before; beyond ASCII the grammar's scanner may end the process.
    plain = _BATS_TEST.sub(lambda test: f"f{'_' * (len(test[0]) - 5)}() {{", text)
    parser = Parser(Language(tree_sitter_bash.language()))
    root = parser.parse(_BEYOND_ASCII.sub(".", plain).encode()).root_node
    return None if root.has_error else _Script(root, is_bats=plain != text)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """What `[`, `[[` or `test` compares; `expected` is the literal where there is one."""

    word: Node
    expected: Node
    is_equal: bool

    @property
    def is_exact(self) -> bool:
        return _is_literal(self.expected) and not _is_literal(self.word)


@dataclass(frozen=True)
class _Script:
    root: Node
    is_bats: bool

    def search(self) -> Iterator[Found]:
        for node in self._nodes:
            compared = _comparison(node)
            if compared and compared.is_exact and self._decides(node, compared.is_equal):
                yield "shell", _span(compared.expected), _span(compared.word), 0
        for statement in self.statements:
            yield from self._in_calls(statement)
        if not self.is_bats:
            yield from self._commands()

    @cached_property
    def _nodes(self) -> Sequence[Node]:
        return list(_below(self.root))

    @cached_property
    def statements(self) -> Sequence[Node]:
        return [node for node in self.root.named_children if node.type != "comment"]

    @cached_property
    def stops(self) -> bool:
        """Whether it stops at a failure: `set -e`, a first line with `-e`, tests for bats."""
        first = re.match(r"#!.* -\w*e", _text(self.root))
        return self.is_bats or self.sets_stop or first is not None

    @property
    def sets_stop(self) -> bool:
        """Whether a statement of it says so: `sh SCRIPT` reads no first line."""
        return any(re.match(r"set -\w*e", _text(each)) for each in self.statements)

    def exits(self) -> list[Edit]:
        """Edits that have each `exit` fail that need not."""
        return [(*_span(node), "exit 1") for node in self._nodes if _may_exit_with_0(node)]

    def _in_calls(self, function: Node) -> Iterator[Found]:
        """What a function, if it compares a parameter, is called with."""
        body, name = function.child_by_field_name("body"), function.child_by_field_name("name")
        if function.type != "function_definition" or not body or not name:
            return
        inside = list(_below(body))
        comparing = [(node, found) for node in inside if (found := _comparison(node))]
        calls = [node for node in self._nodes if _name(node) == _text(name)]
        # With more than one comparison another value may do, and of calls elsewhere it is not known
        # which are made, and when.
        is_plain = len(comparing) == 1 and all(each.type != "case_statement" for each in inside)
        is_known = all(_statement(call) in self.statements for call in calls)
        if not is_plain or not is_known:
            return
        ((node, compared),) = comparing
        if not self._decides(node, compared.is_equal):
            return
        sides = compared.word, compared.expected
        for expected, other in (sides, sides[::-1]):
            place, beside = (_parameter(side, body) for side in (expected, other))
            for row, call in enumerate(calls):
                given = dict(enumerate(call.children_by_field_name("argument"), 1))
                literal = given.get(place)
                if literal and _is_literal(literal) and not _is_literal(given.get(beside, other)):
                    yield "shell", _span(literal), _span(other), row

    def _commands(self) -> Iterator[Found]:
        """What must succeed in a script that stops at a failure."""
        if not self.stops or self.may_end or self.exits():
            return
        for each in self.statements:
            command = each.named_children[0] if each.type == "redirected_statement" else each
            if command.type == "pipeline" or not _DOES_NOT_FAIL.fullmatch(_name(command)):
                yield "command", _span(each), _span(each), 0

    @property
    def may_end(self) -> bool:
        """Whether it may end in a way that is no `exit`, or does not stop at a failure."""
        return (
            any(_name(node) in ("trap", "exec") for node in self._nodes)
            or any(_text(node).startswith("set +") for node in self._nodes)
            or any(_name(statement) == "return" for statement in self.statements)
        )

    @property
    def ends_elsewhere(self) -> bool:
        """Whether another file may end it: the last one that it reads, or a function that it calls
        at last without arguments (`finish`)."""
        sources = [node for node in self._nodes if _name(node) in (".", "source")]
        last = self.statements[-1] if self.statements else self.root
        if not sources or last in sources:
            return bool(sources)
        functions = [each for each in self.statements if each.type == "function_definition"]
        names = [each.child_by_field_name("name") for each in functions]
        is_bare = re.fullmatch(r"(?!(?:exit|echo|true|false)$)[\w-]+", _text(last))
        return bool(is_bare) and _text(last) not in {_text(name) for name in names if name}

    def _decides(self, node: Node, is_equal: bool) -> bool:
        """Whether the script fails when a comparison finds another value."""
        # On the left of `&&` a failure stops nothing.
        stops = self.stops and is_equal
        while parent := node.parent:
            match parent.type:
                case "program":
                    return stops or (is_equal and node == self.statements[-1])
                case "list":
                    left, operator, right = parent.children
                    if node == left and operator.type == ("||" if is_equal else "&&"):
                        return self._gives_up(right)
                    if not is_equal or operator.type != "&&":
                        return False
                    stops = stops and node != left
                case "if_statement":
                    if node != parent.child_by_field_name("condition"):
                        return stops and self._always_stops(parent)
                    bodies = [each for each in parent.named_children if each != node]
                    otherwise = [each for each in bodies if each.type == "else_clause"]
                    first = [each for each in bodies if not each.type.startswith("el")]
                    return any(map(self._gives_up, otherwise if is_equal else first))
                case "compound_statement" | "subshell" | "do_group" | "else_clause":
                    return stops and self._always_stops(parent)
                case _:
                    return False
            node = parent
        return False

    def _gives_up(self, node: Node) -> bool:
        """Whether a part ends with a failure, or counts one that is asked about elsewhere."""
        for each in _always_run(node):
            name, counted = _name(each), _counted(each)
            if name == "exit":
                if _text(each) != "exit 0":
                    return True
            elif name == "return":
                if _text(each) != "return 0" and self._always_stops(each):
                    return True
            elif _FAILS.fullmatch(name) or (counted and self._is_asked(counted)):
                return True
        return False

    def _always_stops(self, node: Node) -> bool:
        """Whether a failure there stops the script: not in a function that is a condition."""
        function = node
        while function.parent and function.type != "function_definition":
            function = function.parent
        name = function.child_by_field_name("name")
        if function.type != "function_definition" or not name or self.is_bats:
            return self.stops
        calls = [each for each in self._nodes if _name(each) == _text(name)]
        return self.stops and bool(calls) and all(call in self.statements for call in calls)

    def _is_asked(self, variable: str) -> bool:
        """Whether a variable counts failures, and a command that can fail looks at it."""
        if not _COUNTS_FAILURES.search(variable):
            return False
        asked = re.compile(rf"\b{re.escape(variable)}\b")
        return any(
            asked.search(_text(node))
            for node in self._nodes
            if node.type == "test_command" or _name(node) in ("exit", "return", "test", variable)
        )


def _below(node: Node) -> Iterator[Node]:
    """A node and every named one below it, in the text's order."""
    left = [node]
    while left:
        node = left.pop()
        yield node
        left += reversed(node.named_children)


def _always_run(node: Node) -> Iterator[Node]:
    """A statement, or those of a group, that run whenever it does."""
    if node.type in ("compound_statement", "else_clause"):
        for each in node.named_children:
            yield from _always_run(each)
    elif node.type in ("command", "variable_assignment", "redirected_statement"):
        yield node.named_children[0] if node.type == "redirected_statement" else node
    elif _counted(node):
        yield node


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _span(node: Node) -> Span:
    return node.start_byte, node.end_byte


def _name(node: Node) -> str:
    """The name of a simple command; empty where it is none."""
    name = node.child_by_field_name("name") if node.type == "command" else None
    return _text(name) if name else ""


def _may_exit_with_0(node: Node) -> bool:
    return _name(node) == "exit" and not re.fullmatch(r"exit [1-9]\d*", _text(node))


def _is_literal(node: Node) -> bool:
    return _LITERAL.fullmatch(_text(node)) is not None


def _comparison(node: Node) -> _Comparison | None:
    if _name(node) == "test":
        parts = node.children_by_field_name("argument")
    elif node.type == "test_command" and node.named_children:
        inner = node.named_children[0]
        parts = inner.children if inner.type == "binary_expression" else []
    else:
        return None
    if len(parts) != 3 or _text(parts[1]) not in _EQUAL | _UNEQUAL:
        return None
    left, operator, right = parts
    word, expected = (right, left) if _is_literal(left) else (left, right)
    return _Comparison(word, expected, _text(operator) in _EQUAL)


def _counted(node: Node) -> str:
    """The variable that a statement sets or counts up; empty where it is none."""
    if node.type == "variable_assignment":
        return _text(node).partition("=")[0].rstrip("+")
    counted = re.match(r"\(\(\s*(?:\+\+)?(\w+)\s*(?:\+\+|\+=)", _text(node))
    return counted[1] if counted else ""


def _statement(call: Node) -> Node:
    """The whole of what a call is the first command of: `is 1 2 || exit 1`."""
    node = call
    while node.parent and node.parent.type == "list" and node.parent.children[0] == node:
        node = node.parent
    return node


def _parameter(word: Node, body: Node) -> int:
    """Which argument of the function a word of it is, counted from 1; 0 where it is none."""
    places: dict[str, int] = {}
    shifted = 0
    for node in _below(body):
        if node.start_byte >= word.start_byte:
            break
        if node.type == "variable_assignment":
            name, _, value = _text(node).partition("=")
            places[name] = _place(value, places, shifted)
        elif _name(node) == "shift":
            count = _text(node).removeprefix("shift").strip() or "1"
            shifted += int(count) if count.isdigit() else 0
    return _place(_text(word), places, shifted)


def _place(text: str, places: dict[str, int], shifted: int) -> int:
    found = _PARAMETER.fullmatch(text)
    if not found:
        return 0
    return int(found[1]) + shifted if found[1].isdigit() else places.get(found[1], 0)
