"""What shell scripts expect: values that `test` compares with, in helpers too, and commands of a
script that stops at a failure. A grammar of bash (tree-sitter) reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from ..edits import Edit, edited
from ..syntax_tree import descendants, text_of_node
from .expectation import Expectation

_IS_EQUAL = {"=": True, "==": True, "-eq": True, "!=": False, "-ne": False}
_LITERAL = re.compile(r"""-?\d+(?:\.\d+)?|"[^"$`\\\n]*"|'[^'\\\n]*'|[A-Za-z][\w.-]*""")
_PARAMETER = re.compile(r'"?\$\{?(\w+)\}?"?')
_FAILS = re.compile(r"fail\w*|die|abort|false", re.IGNORECASE)
_COUNTS_FAILURES = re.compile(r"fail|err|bad|wrong|miss|status|^(?:rc|ret|code|ok)$", re.IGNORECASE)
_DOES_NOT_FAIL = re.compile(
    r"alias|cd|declare|echo|eval|exec|exit|export|local|printf|read|readonly|return|set|shift|source"
    r"|test|trap|unset|wait|\.|"
)
_DO_NOTHING = frozenset(["", ":", "cd", "echo", "exit", "export", "mkdir", "printf", "set", "true"])
_STARTERS = re.compile(
    r"(?:ba|da|k|z|a)?sh|python[\d.]*|node|bun|perl|ruby|env|exec|nice|time|timeout|-\w*|\w+=.*|\d\w*"
)
"""What comes before the file that is run: interpreters, their options, limits of time."""
_VARIES = re.compile(r"\$(?:\w+|\{[^}]*\}|\([^)]*\))")
_BATS_TEST = re.compile(r"^@test .*\{$", re.MULTILINE)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")


def find_in_shell(text: str) -> list[Expectation]:
    """The expectations; none where it is no shell script.

    Example:
        >>> text = 'is() { [ "$1" = "$2" ] || exit 1; }\\nis "$(add 2 3)" 5\\n'
        >>> [(each.language, each.literal) for each in find_in_shell(text)]
        [('shell', '5')]
    """
    return list(_script(text).search())


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
    is_known = script.text == text and not script.is_bats
    if not is_known or script.may_end or script.ends_elsewhere:
        return ""
    fails = "false\nexit 0" if script.sets_stop else "exit 1"
    edits = script.exits()
    if script.statements and _may_exit_with_0(script.statements[-1]):
        edits[-1] = (*edits[-1][:2], fails)
    return f"{edited(text, edits).rstrip()}\n{fails}\n"


def script_exits(text: str) -> list[Edit]:
    """Edits that have each `exit` of a script fail where it may exit with status 0."""
    return _script(text).exits()


def files_only_run(text: str) -> list[str]:
    """The files that a shell text runs, if it does nothing else; none otherwise.
    For the variable of a loop there are the words that it goes through.

    Example:
        >>> files_only_run("cd tools && PORT=1 timeout 9 bash -e ./ci.sh --all; echo done")
        ['./ci.sh']
        >>> files_only_run("./report.sh > page.html && grep -q total page.html")
        []
    """
    script = _script(text)
    found: list[str] = []
    for node in script.nodes:
        if node.type in ("pipeline", "test_command", "command_substitution"):
            return []
        name = _name(node)
        if name in _DO_NOTHING:
            continue
        words = [name, *map(text_of_node, node.children_by_field_name("argument"))]
        while len(words) > 1 and _STARTERS.fullmatch(words[0]):
            words.pop(0)
        every = script.loops.get(words[0].strip('"').strip("${}"), words[:1])
        if not all(re.search(r"/|\.\w+$", word) for word in every):
            return []
        found += every
    return found


def compared_with(text: str) -> list[str]:
    """The files that a shell text compares printed output with; `*` stands for what varies.

    Example:
        >>> compared_with('./run $i | diff -u - "data/$i.txt"; cmp one.txt other.txt')
        ['data/*.txt']
    """
    found: list[str] = []
    for node in _script(text).nodes:
        if _name(node) in ("cmp", "comm", "diff"):
            words = [text_of_node(each) for each in node.children_by_field_name("argument")]
            files = [each for each in words if not each.startswith(("-", "<("))]
            is_printed = any(each == "-" or each.startswith("<(") for each in words)
            found += [_VARIES.sub("*", each.strip("\"'")) for each in files if is_printed]
    return found


def files_read_by_loops(text: str) -> list[str]:
    """The files that a loop of a shell text reads line by line.

    Example:
        >>> files_read_by_loops("while read -r a b; do ./run $a; done < cases.txt")
        ['cases.txt']
    """
    return [
        text_of_node(node).lstrip("< ").strip("\"'")
        for node in _script(text).nodes
        if node.type == "file_redirect"
        and text_of_node(node).startswith("<")
        and node.parent
        and node.parent.named_children[0].type == "while_statement"
    ]


def _script(text: str) -> _Script:
    """The script; an empty one where it is no shell script."""
    # As long as before; beyond ASCII the grammar's scanner may end the process.
    plain = _BATS_TEST.sub(lambda test: f"f{'_' * (len(test[0]) - 5)}() {{", text)
    parser = Parser(Language(tree_sitter_bash.language()))
    root = parser.parse(_BEYOND_ASCII.sub(".", plain).encode()).root_node
    return _script("") if root.has_error else _Script(text, root, is_bats=plain != text)


@dataclass(frozen=True)
class _Script:
    text: str
    root: Node
    is_bats: bool

    def search(self) -> Iterator[Expectation]:
        for node, word, expected, is_equal in _comparisons(self.nodes):
            is_exact = _is_literal(expected) and not _is_literal(word)
            if is_exact and self._decides(node, is_equal):
                yield self._expectation(expected, word)
        for name, body in self._functions.items():
            yield from self._in_calls(name, body)
        if not self.is_bats:
            yield from self._commands()

    def _expectation(self, literal: Node, word: Node, row: int = 0) -> Expectation:
        start, end = _span(literal)
        language = "command" if literal == word else "shell"
        return Expectation(language, start, end, self.text[start:end], _span(word), row)

    @cached_property
    def nodes(self) -> Sequence[Node]:
        return list(descendants(self.root))

    @cached_property
    def _functions(self) -> Mapping[str, Node]:
        """The bodies of its functions, by name."""
        found: dict[str, Node] = {}
        for each in self.statements:
            name, body = each.child_by_field_name("name"), each.child_by_field_name("body")
            if each.type == "function_definition" and name and body:
                found[text_of_node(name)] = body
        return found

    @cached_property
    def loops(self) -> Mapping[str, list[str]]:
        """The words that each loop goes through, by its variable."""
        found: dict[str, list[str]] = {}
        for node in self.nodes:
            if node.type == "for_statement":
                name, *words = (text_of_node(each) for each in node.named_children[:-1])
                found[name] = words
        return found

    def _calls(self, *names: str) -> list[Node]:
        return [node for node in self.nodes if _name(node) in names]

    @cached_property
    def statements(self) -> Sequence[Node]:
        return [node for node in self.root.named_children if node.type != "comment"]

    @cached_property
    def stops(self) -> bool:
        """Whether it stops at a failure: `set -e`, a first line with `-e`, tests for bats."""
        first = re.match(r"#!.* -\w*e", text_of_node(self.root))
        return self.is_bats or self.sets_stop or first is not None

    @property
    def sets_stop(self) -> bool:
        """Whether a statement of it says so: `sh SCRIPT` reads no first line."""
        return any(re.match(r"set -\w*e", text_of_node(each)) for each in self.statements)

    def exits(self) -> list[Edit]:
        """Edits that have each `exit` fail where it may exit with status 0."""
        return [(*_span(node), "exit 1") for node in self.nodes if _may_exit_with_0(node)]

    def _in_calls(self, name: str, body: Node) -> Iterator[Expectation]:
        """What a function, if it compares a parameter, is called with."""
        inside = list(descendants(body))
        comparing, calls = list(_comparisons(inside)), self._calls(name)
        # With more than one comparison another value may do, and of calls elsewhere it is not known
        # which are made, and when.
        is_plain = len(comparing) == 1 and all(each.type != "case_statement" for each in inside)
        is_known = all(_statement(call) in self.statements for call in calls)
        if not is_plain or not is_known:
            return
        ((node, *sides, is_equal),) = comparing
        if not self._decides(node, is_equal):
            return
        for expected, other in (sides, sides[::-1]):
            place, beside = (_parameter(side, body) for side in (expected, other))
            for row, call in enumerate(calls):
                given = dict(enumerate(call.children_by_field_name("argument"), 1))
                literal = given.get(place)
                if literal and _is_literal(literal) and not _is_literal(given.get(beside, other)):
                    yield self._expectation(literal, other, row)

    def _commands(self) -> Iterator[Expectation]:
        """What must succeed in a script that stops at a failure."""
        if not self.stops or self.may_end or self.exits():
            return
        for each in self.statements:
            command = each.named_children[0] if each.type == "redirected_statement" else each
            if command.type == "pipeline" or not _DOES_NOT_FAIL.fullmatch(_name(command)):
                yield self._expectation(each, each)

    @property
    def may_end(self) -> bool:
        """Whether it may end in a way that is no `exit`, or does not stop at a failure."""
        return (
            bool(self._calls("trap", "exec"))
            or any(text_of_node(node).startswith("set +") for node in self.nodes)
            or any(_name(statement) == "return" for statement in self.statements)
        )

    @property
    def ends_elsewhere(self) -> bool:
        """Whether another file may end it: the last one that it reads, or a function that it calls
        at last without arguments (`finish`)."""
        sources = self._calls(".", "source")
        last = self.statements[-1] if self.statements else self.root
        if not sources or last in sources:
            return bool(sources)
        is_bare = re.fullmatch(r"(?!(?:exit|echo|true|false)$)[\w-]+", text_of_node(last))
        return bool(is_bare) and text_of_node(last) not in self._functions

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
        """Whether a part ends with a failure, or counts one that is tested elsewhere."""
        for each in _always_run(node):
            name, counted = _name(each), _counted(each)
            leaves = name == "exit" or (name == "return" and self._always_stops(each))
            if leaves and text_of_node(each) not in ("exit 0", "return 0"):
                return True
            if _FAILS.fullmatch(name) or (counted and self._is_tested(counted)):
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
        calls = self._calls(text_of_node(name))
        return self.stops and bool(calls) and all(call in self.statements for call in calls)

    def _is_tested(self, variable: str) -> bool:
        """Whether a variable counts failures, and a command that can fail looks at it."""
        if not _COUNTS_FAILURES.search(variable):
            return False
        pattern = re.compile(rf"\b{re.escape(variable)}\b")
        return any(
            pattern.search(text_of_node(node))
            for node in self.nodes
            if node.type == "test_command" or _name(node) in ("exit", "return", "test", variable)
        )


def _always_run(node: Node) -> Iterator[Node]:
    """A statement, or those of a group, that run whenever it does."""
    if node.type in ("compound_statement", "else_clause"):
        for each in node.named_children:
            yield from _always_run(each)
    elif node.type in ("command", "variable_assignment", "redirected_statement"):
        yield node.named_children[0] if node.type == "redirected_statement" else node
    elif _counted(node):
        yield node


def _span(node: Node) -> tuple[int, int]:
    return node.start_byte, node.end_byte


def _name(node: Node) -> str:
    """The name of a simple command; empty where it is none."""
    name = node.child_by_field_name("name") if node.type == "command" else None
    return text_of_node(name) if name else ""


def _may_exit_with_0(node: Node) -> bool:
    return _name(node) == "exit" and not re.fullmatch(r"exit [1-9]\d*", text_of_node(node))


def _is_literal(node: Node) -> bool:
    return _LITERAL.fullmatch(text_of_node(node)) is not None


def _comparisons(nodes: Iterable[Node]) -> Iterator[tuple[Node, Node, Node, bool]]:
    """What `[`, `[[` and `test` compare: each node, a word, the other one (the literal if there is
    one), and whether they should be equal."""
    for node in nodes:
        parts: Sequence[Node] = ()
        if _name(node) == "test":
            parts = node.children_by_field_name("argument")
        elif node.type == "test_command" and node.named_children:
            inner = node.named_children[0]
            parts = inner.children if inner.type == "binary_expression" else ()
        if len(parts) == 3 and text_of_node(parts[1]) in _IS_EQUAL:
            left, operator, right = parts
            word, expected = (right, left) if _is_literal(left) else (left, right)
            yield node, word, expected, _IS_EQUAL[text_of_node(operator)]


def _counted(node: Node) -> str:
    """The variable that a statement sets or counts up; empty where it is none."""
    if node.type == "variable_assignment":
        return text_of_node(node).partition("=")[0].rstrip("+")
    counted = re.match(r"\(\(\s*(?:\+\+)?(\w+)\s*(?:\+\+|\+=)", text_of_node(node))
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
    for node in descendants(body):
        if node.start_byte >= word.start_byte:
            break
        if node.type == "variable_assignment":
            name, _, value = text_of_node(node).partition("=")
            places[name] = _place(value, places, shifted)
        elif _name(node) == "shift":
            count = text_of_node(node).removeprefix("shift").strip() or "1"
            shifted += int(count) if count.isdigit() else 0
    return _place(text_of_node(word), places, shifted)


def _place(text: str, places: dict[str, int], shifted: int) -> int:
    found = _PARAMETER.fullmatch(text)
    if not found:
        return 0
    return int(found[1]) + shifted if found[1].isdigit() else places.get(found[1], 0)
