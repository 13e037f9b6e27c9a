"""Finds the values that a project's tests expect exactly, and marks where they are compared.

A table of inputs and expected values counts value by value. What is no comparison with one
value (an alternative, an expected failure) is left out. In a script that stops at the first
command that fails, a command is expected to succeed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path

from retrai_goal_support import is_one_expression

from ..edits import Edit
from ..makefile import NAMES
from .expectation import Expectation, Language
from .in_python import find_in_python
from .in_shell import find_in_shell
from .program_ends import language_of, start_of

_RECIPE_LINE = re.compile(r"(?<!\\\n)^\t[@+ ]*(?P<script>[^-@+\s#](?:\\\n|.)*)$", re.MULTILINE)
"""With the lines that it goes on in. A failure of one that begins with `-` is ignored."""
_SOURCED = re.compile(r"^[ \t]*(?:\.|source) +(\S+)", re.MULTILINE)
_HEREDOC = re.compile(
    r"^(?![^\n]*\|\|)[^\n#]*python[\d.]*[^\n]*<<-? *(['\"])(?P<end>\w+)\1[^\n]*\n"
    r"(?P<text>.*?)^\t*(?P=end)$",
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
_JAVASCRIPT_LITERAL = rf"{_JAVASCRIPT_SCALAR}|{_JAVASCRIPT_ARRAY}"
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
    r"^(?:function|const) (?P<name>\w+)(?: = )?\((?P<parameters>[\w, ]+)\)(?: =>)? \{\n"
    r"(?P<body>.*?)^\}",
    re.MULTILINE | re.DOTALL,
)
_COMPARES = (
    r"\b{0}\b\)? *(?:!==?|-) *(?:JSON\.stringify\()?{1}\b|qual\({0}, *{1}\b"
    r"|JSON\.stringify\({0}\).*JSON\.stringify\({1}\)"
)
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
_MAY_FAIL = re.compile(
    r"TODO\b *=|todo_start|\btodo *[:(]|\.todo\b"
    r"|\btry\b|\bcatch\b|\b[tT]hrows?\(|\brejects\b|_DEATH|_THROW"
)
"""Where a failure may be expected, or is caught."""
_REPORTS_FAILURE = re.compile(
    r"^\w+\(\)\.catch\([^\n]*\bexit[^\n]*$"
    r"|^[ \t]*(?:await )?assert\.(?:rejects|throws)\([^\n]*(?:=>|\bfunction\b)[^\n]*\);$",
    re.MULTILINE,
)
"""In JavaScript: a last line that exits with the failure, and an expected failure on one line. No
other failure is lost there."""
_UNSURE = re.compile(r"approx|almost|near|round|\bany\b|skip", re.IGNORECASE)
_MARKS = {
    "c": '{{ FILE *at_ = fopen("{path}", "a"); fputs("{line}\\n", at_); fclose(at_); }} ',
    "command": "\necho {line} >> '{path}'\n",
    "javascript": ';process.getBuiltinModule("fs").appendFileSync("{path}", "{line}\\n"); ',
    "perl": "{{ open(my $at, '>>', '{path}'); print $at \"{line}\\n\"; }}\n",
    "python": "open({path!r}, 'a').write('{line}\\n')\n",
    "shell": "echo {line} >> '{path}'\n",
}
"""What notes a line in a file."""
_NOTES_VALUE = {
    "javascript value": "((v) => {{ let t; try {{ t = JSON.stringify(v); }} catch {{}} "
    'process.getBuiltinModule("fs").appendFileSync("{path}", `{number}\\n{number} ${{t}}\\n`); '
    "return v; }})(",
    "perl": "sub {{ open(my $at, '>>', '{path}'); print $at \"{number}\\n{number} @_\\n\"; "
    "close $at; wantarray ? @_ : $_[-1] }}->(",
}
"""A function that notes its argument, which follows."""


def expectations_in(name: str, text: str) -> list[Expectation]:
    """The exact expectations in a test file, by its name's suffix; one for each literal.

    Example:
        >>> found = expectations_in("t.sh", 'set -e\\ntest "$(add 2 3)" = 5\\n')
        >>> [(each.literal, each.language) for each in found]
        [('5', 'shell')]
    """
    suffix, language = Path(name).suffix, language_of(name)
    found: list[Expectation] = []
    if language == "python":
        found = find_in_python(text)
    elif language == "shell" or suffix == ".bats":
        found = [*find_in_shell(text), *_heredocs(text)]
    elif name.rpartition("/")[2] in NAMES or suffix == ".mk":
        found = list(_makefile(text))
    elif language == "c":
        found = list(_statements("c", _C, text))
    elif language == "javascript":
        found = [*_statements("javascript", _JAVASCRIPT, text), *_in_helpers(text)]
    elif language == "perl":
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
        elif each.language in _NOTES_VALUE:
            note = _NOTES_VALUE[each.language].format(path=path, number=number)
            edits += [(start, start, note), (end, end, ")")]
        else:
            mark = _MARKS[each.language]
            # One statement, which may be all that a loop has.
            before, after = ("", "") if each.language == "command" else ("{ ", "}")
            edits += [
                (start, start, before + mark.format(path=path, line=number)),
                (end, end, mark.format(path=path, line=f"{number} done") + after),
            ]
    if any(each.language == "c" for each in compared):
        edits.append(_C_HEADER)
    return edits


def mark_of_start(name: str, text: str, path: str) -> list[Edit]:
    """Edits that note in a file that a program has begun."""
    place, language = start_of(name, text), language_of(name)
    if place is None:
        return []
    mark = _MARKS[language].format(path=path, line="begun")
    return [(place, place, mark), *([_C_HEADER] if language == "c" else [])]


def sourced_files(text: str) -> list[str]:
    """The files that a shell script takes its functions from."""
    return [path.strip("\"'").removeprefix("./") for path in _SOURCED.findall(text)]


def _heredocs(text: str) -> Iterator[Expectation]:
    for found in _HEREDOC.finditer(text):
        for each in find_in_python(found["text"]):
            yield each.moved(range(found.start("text"), found.end("text") + 1))


def _makefile(text: str) -> Iterator[Expectation]:
    """Those in the recipes, each line of which is a script of its own."""
    for line in _RECIPE_LINE.finditer(text):
        # In a script `$$` is one character.
        characters = re.compile(r"\$\$|.", re.DOTALL).finditer(text, *line.span("script"))
        places = [*(each.start() for each in characters), line.end("script")]
        for each in find_in_shell(line["script"].replace("$$", "$")):
            if not each.is_of_script:
                yield replace(each.moved(places), language="make")


def _statements(
    language: Language, forms: Sequence[re.Pattern[str]], text: str
) -> Iterator[Expectation]:
    for form in () if _MAY_FAIL.search(_REPORTS_FAILURE.sub("", text)) else forms:
        for found in form.finditer(text):
            # Where more than one value stands before it, it may be a mere message.
            is_unsure = _UNSURE.search(text, found.start(), found.end("actual"))
            if is_one_expression(found["actual"]) and not is_unsure:
                start, end = found.span("literal")
                yield Expectation(language, start, end, found["literal"], found.span("left"))


def _in_helpers(text: str) -> Iterator[Expectation]:
    """Values in JavaScript that a function of the test compares: `same(sum([1, 2]), 3);`."""
    for helper in _JAVASCRIPT_HELPER.finditer(text):
        names = helper["parameters"].replace(" ", "").split(",")
        pairs = [
            (names.index(given), names.index(wanted))
            for given, wanted in permutations(names, 2)
            if re.search(_COMPARES.format(given, wanted), helper["body"])
        ]
        for call in re.finditer(rf"^[ \t]*{helper['name']}\( *(.*)\);?[ \t]*$", text, re.MULTILINE):
            parts = list(_arguments(text, *call.span(1)))
            for given, wanted in pairs[:1] if len(parts) == len(names) else ():
                (start, end), left = parts[wanted], parts[given]
                is_literal = re.fullmatch(_JAVASCRIPT_LITERAL, text[start:end])
                if is_literal and "(" in text[slice(*left)]:
                    yield Expectation("javascript value", start, end, text[start:end], left)


def _arguments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the arguments of a call stand."""
    for comma in re.compile(r",\s*|$").finditer(text, start, end):
        if is_one_expression(text[start : comma.start()]):
            yield start, comma.start()
            start = comma.end()


def following(text: str, found: Sequence[Expectation], last: Expectation) -> Expectation | None:
    """The next expectation, if it is always reached after `last`: only one-line statements that do
    not leave the block stand between them."""
    after = (each for each in found if each.left > last.left)
    first = min(after, key=lambda each: each.left, default=None)
    if first is None:
        return None
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
