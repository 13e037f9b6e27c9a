"""Finds the values that a project's tests expect exactly, and marks where they are compared.

A table of inputs and expected values counts value by value. What is no comparison with one
value (an alternative, an expected failure) is left out. In a script that stops at the first
command that fails, a command is expected to succeed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Literal

from retrai_goal_support import is_one_expression

from .edits import Edit
from .makefile import NAMES
from .program_ends import JAVASCRIPT, PERL, SHELL, C, start_of
from .python_expectations import find_in_python
from .shell_expectations import find_in_shell

Language = Literal["python", "shell", "make", "command", "end", "c", "javascript", "helper", "perl"]


@dataclass(frozen=True, slots=True)
class Expectation:
    """One value that a test compares with.

    Attributes:
        language: of the place; "helper" is JavaScript, where the test's own function compares.
        start, end: where the literal stands in the file's text.
        literal: its text.
        left: where that stands which is compared with it: an expression or a word; in C
            and JavaScript, the whole statement. A command is both, as it stands.
        row: which of the comparisons at that place it is for, counted from 0.
        tolerance: how far away from the literal the answer may be.
    """

    language: Language
    start: int
    end: int
    literal: str
    left: tuple[int, int]
    row: int = 0
    tolerance: float = 0.0

    @property
    def is_of_script(self) -> bool:
        """Whether it is a command that must be reached and succeed, and no value."""
        return self.language in ("command", "end")

    @property
    def is_statement(self) -> bool:
        """Whether only that it was met is known, and not the value that was given."""
        return self.language in _AROUND

    def moved(self, places: int) -> Expectation:
        """The same in a text that begins earlier."""
        start, end = self.left
        left = start + places, end + places
        return replace(self, start=self.start + places, end=self.end + places, left=left)


_RECIPE_LINE = re.compile(r"(?<!\\\n)^\t[@+ ]*(?P<script>[^-@+\s#](?:\\\n|.)*)$", re.MULTILINE)
"""With the lines that it goes on in. A failure of one that begins with `-` is ignored."""
_SOURCED = re.compile(r"^[ \t]*(?:\.|source) +(\S+)", re.MULTILINE)
_HEREDOC = re.compile(
    r"^[^\n#]*python[\d.]*[^\n]*<<-? *(['\"])(?P<end>\w+)\1[^\n]*\n(?P<text>.*?)^\t*(?P=end)$",
    re.MULTILINE | re.DOTALL,
)
_C_HEADER = (0, 0, "#include <stdio.h>\n")
_C_VALUE = r"""(?P<literal>-?\d+(?:\.\d+)?|"[^"\\\n]*"|'[^'\\\n]')"""
_MACRO = r"\w*(?:ASSERT|EXPECT|CHECK|REQUIRE)\w*EQ\w* *"
_C = tuple(
    re.compile(rf"^[ \t]*(?P<left>{form} *;)", re.MULTILINE)
    for form in (
        # An address is taken in an argument; elsewhere `&` may make it an alternative.
        rf"assert *\((?P<actual>(?:[^;&|^?\n]|(?<=[(,])&|(?<=, )&)+)== *{_C_VALUE} *\)",
        rf"{_MACRO}\((?P<actual>[^;\n]+), *{_C_VALUE} *\)",
        rf"{_MACRO}\( *{_C_VALUE} *,(?P<actual>[^;\n]+)\)",
    )
)
_JAVASCRIPT_SCALAR = r"""(?:-?\d+(?:\.\d+)?|"[^"\\\n]*"|'[^'\\\n]*')"""
_JAVASCRIPT_ARRAY = rf"\[ *{_JAVASCRIPT_SCALAR}(?: *, *{_JAVASCRIPT_SCALAR})* *\]"
_JAVASCRIPT_PAIR = rf"[\w$'\"]+ *: *{_JAVASCRIPT_SCALAR}"
_JAVASCRIPT_OBJECT = rf"\{{ *(?:{_JAVASCRIPT_PAIR}(?: *, *{_JAVASCRIPT_PAIR})*)? *\}}"
_JAVASCRIPT_VALUE = rf"(?P<literal>{_JAVASCRIPT_SCALAR}|{_JAVASCRIPT_ARRAY}|{_JAVASCRIPT_OBJECT})"
_JAVASCRIPT = tuple(
    re.compile(rf"^[ \t]*(?P<left>{form}\) *;?)[ \t]*$", re.MULTILINE)
    for form in (
        rf"expect\((?P<actual>[^\n]*)\)\.(?:toBe|toEqual|toStrictEqual)\( *{_JAVASCRIPT_VALUE} *",
        rf"assert\.(?:deep)?(?:[sS]trict)?[eE]qual\((?P<actual>[^\n]*), *{_JAVASCRIPT_VALUE} *",
    )
)
_JAVASCRIPT_HELPER = re.compile(
    r"^(?:function (?P<name>\w+)\((?P<parameters>[\w, ]+)\)"
    r"|const (?P<constant>\w+) = \((?P<given>[\w, ]+)\) =>) \{\n(?P<body>.*?)^\}",
    re.MULTILINE | re.DOTALL,
)
_COMPARES = r"\b{0}\b\)? *(?:[!=]==?|-) *(?:JSON\.stringify\()?{1}\b|qual\({0}, *{1}\b"
_PERL_TEXT = r"""(?:"[^"\\\n$@%]*"|'[^'\\\n]*')"""
_PERL_VALUE = rf"(?P<literal>-?\d+(?:\.\d+)?|{_PERL_TEXT})"
_PERL = tuple(
    re.compile(
        rf"^[ \t]*{form}(?: *, *(?:'[^'\n]*'|\"[^\"\n]*\"))? *\)? *;[ \t]*$",
        re.MULTILINE,
    )
    for form in (
        rf"is[ (](?P<actual>(?P<left>[^\n]+?)), *{_PERL_VALUE}",
        rf"cmp_ok[ (](?P<actual>(?P<left>[^\n]+?)), *['\"](?:==|eq)['\"] *, *{_PERL_VALUE}",
        rf"ok[ (](?P<actual>(?P<left>[^\n&|?]+?)) +(?:==|eq) +{_PERL_VALUE}",
    )
)
_STATEMENT = re.compile(
    r"[ \t]*(?!(?:if|else|for|while|do|switch|case|default)\b)[A-Za-z_][^#\n]*;[ \t]*"
)
_LEAVES = re.compile(r"return|exit|abort|goto|break|continue|skip|ignore|todo|/\*", re.IGNORECASE)
_MAY_FAIL = re.compile(r"\$TODO\b|\btry\b|\bcatch\b|\b[tT]hrows?\(|\brejects\b|_DEATH|_THROW")
"""Where a failure may be expected, or is caught."""
_REPORTS_FAILURE = re.compile(
    r"^\w+\(\)\.catch\([^\n]*\bexit[^\n]*$"
    r"|^[ \t]*(?:await )?assert\.(?:rejects|throws)\([^\n]*(?:=>|\bfunction\b)[^\n]*\);$",
    re.MULTILINE,
)
"""In JavaScript: a last line that exits with the failure, and an expected failure on one line. No
other failure is lost there."""
_UNSURE = re.compile(r"approx|almost|near|round|\bany\b|skip", re.IGNORECASE)


def expectations_in(name: str, text: str) -> list[Expectation]:
    """The exact expectations in a test file, by its name's suffix; one for each literal.

    Example:
        >>> found = expectations_in("t.sh", 'set -e\\ntest "$(add 2 3)" = 5\\n')
        >>> [(each.literal, each.language) for each in found]
        [('5', 'shell')]
    """
    suffix = Path(name).suffix
    found: list[Expectation] = []
    if suffix == ".py":
        found = _python(text)
    elif suffix in SHELL or suffix == ".bats":
        found = [*_shell(text), *_heredocs(text)]
    elif name.rpartition("/")[2] in NAMES or suffix == ".mk":
        found = list(_makefile(text))
    elif suffix in C:
        found = list(_statements("c", _C, text))
    elif suffix in JAVASCRIPT:
        found = [*_statements("javascript", _JAVASCRIPT, text), *_in_helpers(text)]
    elif suffix in PERL:
        found = list(_statements("perl", _PERL, text))
    return list({each.start: each for each in found}.values())


def comparisons(found: Sequence[Expectation]) -> list[Expectation]:
    """One of the expectations for each place where something is compared, in the text's order."""
    first = {each.left: each for each in reversed(found)}
    return [first[left] for left in sorted(first)]


def marks_of(text: str, compared: Sequence[Expectation], path: str) -> list[Edit]:
    """Edits that note in a file what is compared: first the place's number, then the value too.

    Where the place is a statement there is no value, and `done` is noted once it is over.

    Args:
        text: of the test file.
        compared: the places.
        path: of the file to write.
    """
    edits: list[Edit] = []
    for number, each in enumerate(compared):
        start, end = each.left
        if each.language == "python":
            # Evaluated in this order: the mark, what is compared, its value.
            write = f"open({path!r}, 'a').write"
            value = f"(lambda _, v: ({write}('{number} ' + ascii(v) + chr(10)), v)[1])"
            edits += [(start, start, f"{value}({write}('{number}' + chr(10)), "), (end, end, ")")]
        elif each.language in ("shell", "make"):
            value = '"$v"' if each.language == "shell" else '"$$v"'
            word = text[start:end]
            # The status of the last command is gone after another one.
            first, then = (f"v={word}", f"echo {number} >> '{path}'")
            if "$?" not in word:
                first, then = then, first
            noted = (
                f"{first}; {then}; printf '{number} %s\\n' {value} >> '{path}'; printf %s {value}"
            )
            edits.append((start, end, f'"{value[1:-2]}({noted})"'))
        elif each.language in _VALUES:
            write = _VALUES[each.language]
            edits += [(start, start, write % {"path": path, "number": number}), (end, end, ")")]
        else:
            mark, before, after = _AROUND[each.language]
            edits += [
                (start, start, before % mark(path, f"{number}")),
                (end, end, after % mark(path, f"{number} done")),
            ]
    if any(each.language == "c" for each in compared):
        edits.append(_C_HEADER)
    return edits


def mark_of_start(name: str, text: str, path: str) -> list[Edit]:
    """Edits that note in a file that a program has begun."""
    place = start_of(name, text)
    if place is None:
        return []
    suffix = Path(name).suffix
    if suffix in C:
        return [(place, place, _c_mark(path, "begun")), _C_HEADER]
    if suffix in JAVASCRIPT:
        return [(place, place, _javascript_mark(path, "begun"))]
    if suffix in PERL:
        noted = f"{{ open(my $at, '>>', '{path}'); print $at \"begun\\n\"; }}\n"
        return [(place, place, noted)]
    noted = f"open({path!r}, 'a').write('begun\\n')\n"
    return [(place, place, noted if suffix == ".py" else f"echo begun >> '{path}'\n")]


def _c_mark(path: str, line: str) -> str:
    return f'{{ FILE *at_ = fopen("{path}", "a"); fputs("{line}\\n", at_); fclose(at_); }} '


def _javascript_mark(path: str, line: str) -> str:
    return f';process.getBuiltinModule("fs").appendFileSync("{path}", "{line}\\n"); '


def sourced(text: str) -> list[str]:
    """The files that a shell script takes its functions from."""
    return [path.strip("\"'").removeprefix("./") for path in _SOURCED.findall(text)]


def _command_mark(path: str, line: str) -> str:
    return f"\necho {line} >> '{path}'\n"


# One statement, which may be all that a loop has.
_AROUND = {
    "c": (_c_mark, "{ %s", "%s}"),
    "javascript": (_javascript_mark, "{ %s", "%s}"),
    "command": (_command_mark, "%s", "%s"),
}
_VALUES = {
    "helper": '((v) => { process.getBuiltinModule("fs").appendFileSync("%(path)s", "%(number)d\\n'
    '%(number)d " + JSON.stringify(v) + "\\n"); return v; })(',
    "perl": "sub { open(my $at, '>>', '%(path)s'); print $at \"%(number)d\\n%(number)d @_\\n\"; "
    "close $at; @_ }->(",
}
"""Functions that note their argument."""


def _python(text: str) -> list[Expectation]:
    return [
        Expectation("python", start, end, text[start:end], left, row, tolerance)
        for (start, end), left, row, tolerance in find_in_python(text)
    ]


def _heredocs(text: str) -> Iterator[Expectation]:
    for found in _HEREDOC.finditer(text):
        for each in _python(found["text"]):
            yield each.moved(found.start("text"))


def _shell(text: str) -> list[Expectation]:
    return [
        Expectation(kind, start, end, text[start:end], left, row)
        for kind, (start, end), left, row in find_in_shell(text)
    ]


def _makefile(text: str) -> Iterator[Expectation]:
    """Those in the recipes, each line of which is a script of its own."""
    for line in _RECIPE_LINE.finditer(text):
        # In a script `$$` is one character.
        places = [one.start() for one in re.finditer(r"\$\$|.", line["script"], re.DOTALL)]
        places.append(len(line["script"]))
        for each in _shell(line["script"].replace("$$", "$")):
            start, end, *left = (places[at] for at in (each.start, each.end, *each.left))
            if not each.is_of_script:
                found = replace(each, start=start, end=end, left=(left[0], left[1]))
                yield replace(found.moved(line.start("script")), language="make")


def _statements(
    language: Language, forms: Sequence[re.Pattern[str]], text: str
) -> Iterator[Expectation]:
    for form in () if _MAY_FAIL.search(_REPORTS_FAILURE.sub("", text)) else forms:
        for found in form.finditer(text):
            # Where more than one value stands before it, it may be a mere message.
            is_unsure = _UNSURE.search(text, found.start(), found.end("actual"))
            if is_one_expression(found["actual"]) and not is_unsure:
                yield _of_match(language, found)


def _in_helpers(text: str) -> Iterator[Expectation]:
    """Values in JavaScript that a function of the test compares: `same(sum([1, 2]), 3);`."""
    for helper in _JAVASCRIPT_HELPER.finditer(text):
        names = (helper["parameters"] or helper["given"]).replace(" ", "").split(",")
        pairs = [
            (names.index(given), names.index(wanted))
            for given, wanted in permutations(names, 2)
            if re.search(_COMPARES.format(given, wanted), helper["body"])
        ]
        name = helper["name"] or helper["constant"]
        for call in re.finditer(rf"^[ \t]*{name}\((.*)\);?[ \t]*$", text, re.MULTILINE):
            parts = list(_arguments(text, *call.span(1)))
            for given, wanted in pairs[:1] if len(parts) == len(names) else ():
                (start, end), left = parts[wanted], parts[given]
                is_literal = re.fullmatch(_JAVASCRIPT_SCALAR, text[start:end])
                if is_literal and "(" in text[slice(*left)]:
                    yield Expectation("helper", start, end, text[start:end], left)


def _arguments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the arguments of a call stand."""
    for comma in re.compile(",|$").finditer(text, start, end):
        if is_one_expression(text[start : comma.start()]):
            blank = len(text[start : comma.start()]) - len(text[start : comma.start()].lstrip())
            yield start + blank, comma.start()
            start = comma.end()


def following(text: str, found: Sequence[Expectation], last: Expectation) -> Expectation | None:
    """The next expectation, if it is always reached after `last`: only one-line statements that do
    not leave the block stand between them."""
    after = [each for each in found if each.left > last.left]
    if not after:
        return None
    first = min(after, key=lambda each: each.left)
    between = text[last.left[1] : text.rfind("\n", 0, first.left[0]) + 1]
    is_plain = all(map(_is_plain_statement, between.split("\n")))
    return first if is_plain and _indent_of(text, first) == _indent_of(text, last) else None


def _is_plain_statement(line: str) -> bool:
    if not line.strip():
        return True
    is_whole = all(line.count(one) == line.count(other) for one, other in ("()", "{}"))
    return is_whole and bool(_STATEMENT.fullmatch(line)) and not _LEAVES.search(line)


def _indent_of(text: str, each: Expectation) -> int:
    line = text[text.rfind("\n", 0, each.left[0]) + 1 :]
    return len(line) - len(line.lstrip(" \t"))


def _of_match(language: Language, found: re.Match[str]) -> Expectation:
    start, end = found.span("literal")
    return Expectation(language, start, end, found["literal"], found.span("left"))
