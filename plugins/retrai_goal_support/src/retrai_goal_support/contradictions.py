"""Change what tests expect, for `GoalBase.contradict`: real answers must fail them then."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from retrai_core import Contradiction, GoalResult

MAX_CONTRADICTED = 40
MARK = "retrai contradiction"
LITERAL = (
    r"""-?\d[\d_]*(?:\.\d+)?(?:_?[iuf](?:8|16|32|64|128|size))?|"(?:[^"\\\n]|\\.)*"|true|false"""
)
"""A regular expression for a number, a text in double quotes or a truth value."""
_NUMBER = re.compile(r"(-?)(\d[\d_]*)(?:\.(\d+))?(_?[iuf](?:8|16|32|64|128|size))?")
_TRUTH = ("true", "false")
_QUOTES = "\"'`"
_TEXT = re.compile(r"""(["'`])(?:\\.|(?!\1)[^\\\n])*\1""")
_INNERMOST = re.compile(r"[(\[{][^()\[\]{}]*[)\]}]")
_LINE = re.compile(r"(?P<indent>[ \t]*)[^\n]*(?:\n|\Z)")
_ANY_LITERAL = re.compile(rf"(?<![\w$.])(?:{_TEXT.pattern}|-?\d[\w.]*|true\b|false\b)")
_LEAVES_TURN = re.compile(r"\b(?:continue|break)\b")
_Edits = dict[tuple[int, int], str]
"""By its place in a text, what is written instead."""


@dataclass(frozen=True, slots=True)
class ExactForms:
    """How a language writes a test, and an exact expectation in it.

    A test ends with the first line that is not indented deeper than its own first one.

    Attributes:
        start: the first line of a test and the attributes above it, with the groups `indent` and
            `name`.
        exact: statements that compare with one literal, with the groups `literal` and `actual`; one
            counts where it stands directly in a test. With a group `made`, the literal is what an
            object is made of, which may equal the answer of before. With a group `object` in place
            of `literal`, an expression that makes the expected object. Of the assertion that
            failed, its first literal counts that was compared before the run and is there once.
        leaves: what can leave a test before the statement, so that it need not fail.
        unsure: what is no exact comparison, looked for in `actual`.
        dodges: what in `start` tells a test that need not run or pass.
        far: numbers are changed by more than their size. They may not fit a small type then.
        loops: heads of loops, with the group `source`. The assertion that failed may stand directly
            in such a loop of the test.
        one_item: an expression for `%s`, a source, that has an item where the source has none.
        opposites: assertions that expect an error, each with what takes the place of the group
            `failure` so that none is expected. Only the assertion that failed is changed so.
    """

    start: re.Pattern[str]
    exact: Sequence[re.Pattern[str]]
    leaves: re.Pattern[str]
    unsure: re.Pattern[str]
    dodges: re.Pattern[str] | None = None
    far: bool = False
    loops: Sequence[re.Pattern[str]] = ()
    one_item: str = "%s"
    opposites: Sequence[tuple[re.Pattern[str], str]] = ()


async def contradict_suite(
    forms: ExactForms,
    cases: Sequence[str],
    files_of: Callable[[str], Sequence[Path]],
    check: Callable[[], Awaitable[GoalResult]],
    answers: Mapping[str, Sequence[str]] | None = None,
    lines: Mapping[str, int] | None = None,
) -> Contradiction:
    """Change an expectation in some of the tests, and see which pass all the same.

    Args:
        forms, cases, files_of, answers, lines: as `contradict_tests` takes them.
        check: runs the tests in the copy that has the files.
    """
    tried = await asyncio.to_thread(contradict_tests, forms, cases, files_of, answers, lines)
    report = (await check()).report if tried else None
    if report is None or not report.complete:
        return Contradiction()  # a changed literal that does not compile proves nothing
    return Contradiction(tried, [case for case in tried if report.cases.get(case) == "passed"])


def contradict_tests(
    forms: ExactForms,
    cases: Sequence[str],
    files_of: Callable[[str], Sequence[Path]],
    answers: Mapping[str, Sequence[str]] | None = None,
    lines: Mapping[str, int] | None = None,
) -> list[str]:
    """Change one expectation in each of the tests, up to `MAX_CONTRADICTED`; the cases in which one
    was found.

    Args:
        forms: of the language.
        cases: ids that end with `::` and the test's name, the first ones first.
        files_of: where the test of a case may be; a name that is there twice is left alone.
        answers: by case, the literals that its failed assertion compared. The first one that
            differs from the expected literal is what the code answered before the run, and takes
            its place.
        lines: by case, the line of the assertion that failed before the run. That assertion is
            changed if it has a known form, otherwise the first one of the test.
    """
    texts: dict[Path, str] = {}
    edits: dict[Path, _Edits] = {}
    tried: list[str] = []
    for case in cases:
        name, line = case.rpartition("::")[2], (lines or {}).get(case)
        known = (answers or {}).get(case, ())
        there: list[tuple[Path, _Edits]] = []
        for path in files_of(case):
            text = texts[path] = texts.get(path) or _text(path)
            failed = _start_of(text, line) if line is not None else -1
            if "::" not in case and line is not None:
                there.append((path, _changed_at(text, failed, forms, known, has_failed=True)))
            elif name in text:
                starts = [at for at in forms.start.finditer(text) if at["name"] == name]
                there += [(path, _changed_in(text, at, forms, known, failed)) for at in starts]
        if len(there) != 1:
            continue
        ((path, changes),) = there
        if changes:
            edits.setdefault(path, {}).update(changes)
            tried.append(case)
        if len(tried) == MAX_CONTRADICTED:
            break
    for path, changes in edits.items():
        text = texts[path]
        for (first, last), other in sorted(changes.items(), reverse=True):
            text = text[:first] + other + text[last:]
        path.write_bytes(text.encode())
    return tried


def contradiction_of(literal: str, *, far: bool = False) -> str | None:
    """A literal that nothing equals which equals this one; None where there is none.

    Positive numbers stay positive, and small where `far` is not asked for.

    Example:
        >>> [contradiction_of(text) for text in ("3", "250u8", "-1.5", "true", '"a"', "x")]
        ['20', '233u8', '-18.5', 'false', '"a retrai contradiction"', None]
        >>> contradiction_of("1000", far=True)
        '2017'
    """
    if literal in _TRUTH:
        return "false" if literal == "true" else "true"
    if len(literal) > 1 and literal[0] == literal[-1] and literal[0] in _QUOTES:
        return f"{literal[:-1]} {MARK}{literal[-1]}"
    found = _NUMBER.fullmatch(literal)
    if found is None:
        return None
    sign, whole, fraction, suffix = found.groups(default="")
    number = int(whole.replace("_", ""))
    if number > 10**12:
        return None  # beyond this a float may round the difference away
    other = number * 2 + 17 if far else number + (17 if number < 100 else -17)
    return f"{sign}{other}{'.' + fraction if fraction else ''}{suffix}"


def is_one_expression(text: str) -> bool:
    """Whether an argument is one: where commas separate several, the last may be a mere message.

    Example:
        >>> is_one_expression('f(1, ",")'), is_one_expression("f(1), wanted")
        (True, False)
    """
    plain, left = text, ""
    while plain != left:
        left = plain
        plain = _INNERMOST.sub("", _TEXT.sub("", left))
    return not re.search(r"[,()\[\]{}]", plain)


def _changed_in(
    text: str, start: re.Match[str], forms: ExactForms, known: Sequence[str], failed: int
) -> _Edits:
    """Changes the exact expectation that failed, otherwise the first one; each is reached whenever
    the test passes.

    Args:
        text: of the file.
        start: of the test.
        forms: of the language.
        known: the literals that the failed assertion compared.
        failed: where the line begins that failed; -1 where that is not known.
    """
    if forms.dodges and forms.dodges.search(start[0]):
        return {}
    first: _Edits = {}
    inner, body = "", text.find("\n", start.end()) + 1
    for line in _LINE.finditer(text, body or len(text)):
        here, at = line["indent"], line.start()
        if not line[0].strip():
            continue
        if len(here) <= len(start["indent"]) or forms.leaves.search(line[0]):
            break
        inner = inner or here
        loop = _loop_around(text, line, forms) if at == failed else None
        if here == inner or (loop and loop["indent"] == inner):
            found = _changed_at(text, at, forms, known, has_failed=at == failed)
            first = first or found
            if found and at >= failed:
                return found if at == failed else first
    return first


def _changed_at(
    text: str, at: int, forms: ExactForms, known: Sequence[str], *, has_failed: bool
) -> _Edits:
    """Changes the expectation on a line; nothing where it has no known form."""
    for pattern, other in forms.opposites if has_failed else ():
        if found := pattern.match(text, at):
            return {found.span("failure"): other}
    for form in forms.exact:
        found = form.match(text, at)
        actual = found["actual"] if found else ""
        if found is None or not is_one_expression(actual) or forms.unsure.search(actual):
            continue
        if "object" in form.groupindex:
            changes = _changed_object(found, known) if has_failed else {}
        else:
            literal = found["literal"]
            old = [one for one in known if _are_equal(one, literal) is False]
            is_made = "made" in form.groupindex
            other = contradiction_of(literal, far=forms.far) if is_made or not old else old[0]
            changes = {found.span("literal"): other} if other else {}
        if changes:
            line = _LINE.match(text, at)
            if line and (loop := _loop_around(text, line, forms)):
                changes[loop.span("source")] = forms.one_item % loop["source"]
            return changes
    return {}


def _changed_object(expected: re.Match[str], known: Sequence[str]) -> _Edits:
    literals = list(_ANY_LITERAL.finditer(expected.string, *expected.span("object")))
    for literal in literals:
        is_known = any(_are_equal(one, literal[0]) for one in known)
        others = [one for one in literals if one is not literal and _are_equal(one[0], literal[0])]
        other = _opposite(literal[0]) if is_known and not others else None
        if other:
            return {literal.span(): other}
    return {}


def _loop_around(text: str, line: re.Match[str], forms: ExactForms) -> re.Match[str] | None:
    """The head of the loop that a line stands directly in, if every turn reaches the line."""
    above = [each for each in _LINE.finditer(text, 0, line.start()) if each[0].strip()]
    outer = (each for each in above[::-1] if len(each["indent"]) < len(line["indent"]))
    head = next(outer, None)
    if head is None or _LEAVES_TURN.search(text, head.end(), line.start()):
        return None
    return next((loop for each in forms.loops if (loop := each.match(text, head.start()))), None)


def _opposite(literal: str) -> str | None:
    """A literal that also differs where an object limits its number or cuts its text.

    Example:
        >>> [_opposite(text) for text in ("3", "-3", '"a"')]
        ['-23', '23', '"retrai contradiction a retrai contradiction"']
    """
    other = contradiction_of(literal, far=True)
    if other is None or other in _TRUTH:
        return other
    if other[0] in _QUOTES:
        return f"{other[0]}{MARK} {other[1:]}"
    return other.removeprefix("-") if other.startswith("-") else f"-{other}"


def _start_of(text: str, line: int) -> int:
    """Where a line of a text begins; lines count from 1."""
    return sum(len(each) + 1 for each in text.split("\n")[: line - 1])


def _are_equal(one: str, other: str) -> bool | None:
    """Whether two literals mean the same; None where they are of two kinds, or have escapes."""
    if not one or "\\" in one + other:
        return None
    (kind, value), (other_kind, other_value) = _meaning(one), _meaning(other)
    return value == other_value if kind == other_kind else None


def _meaning(literal: str) -> tuple[str, str | float]:
    """The kind and the value of a literal, however it is written."""
    if literal in _TRUTH:
        return "truth", literal
    found = _NUMBER.fullmatch(literal)
    if found is None:
        return "text", literal.strip(_QUOTES)
    sign, whole, fraction, _ = found.groups(default="0")
    return "number", float(f"{sign}{whole.replace('_', '')}.{fraction}")


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8") if path.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return ""
