"""What the operators offer: for each common kind of bug, the edit that puts it right."""

from __future__ import annotations

import ast
import re
from textwrap import dedent, indent

import pytest

from retrai_llm_offline.worker.candidate import apply_edits
from retrai_llm_offline.worker.generate import Suspicion, candidates
from retrai_llm_offline.worker.source import SourceFile

from .conftest import MakeProject, Search, fixed


def offered(body: str, doc: str = "") -> list[str]:
    """What the module becomes by each edit of a function's body."""
    source = SourceFile("m.py", module(body, doc))
    suspicion = Suspicion(dict.fromkeys(range(1, source.line_count + 1), 1.0))
    found = candidates(source, suspicion) + candidates(source, suspicion, far=True)
    return [apply_edits(source.text, candidate.edits) for candidate in found]


def module(body: str, doc: str = "") -> str:
    """A function of two arguments with this body."""
    head = "def f(a, b):\n" + (f'    """{doc}"""\n' if doc else "")
    return head + indent(dedent(body).strip("\n"), "    ") + "\n"


def offers(wrong: str, right: str, doc: str = "") -> bool:
    """Whether one edit makes one body of the other, however it is laid out."""
    wanted = module(right, doc)
    alike = [text for text in offered(wrong, doc) if bare(text) == bare(wanted)]
    return any(ast.dump(ast.parse(text)) == ast.dump(ast.parse(wanted)) for text in alike)


def bare(text: str) -> str:
    """A text without white space and parentheses."""
    return re.sub(r"[\s()]", "", text)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("return a * 10 + b", "return a * 37 + b"),
        ("return a.split(';')", "return a.split(',')"),
        ("return a + '#' + b", "return a + '*' + b"),
        ("return a in 'bcd'", "return a in 'bcdf'"),
        ("return a in 'aei'", "return a in 'aeiou'"),
        ("return a in (2, 3, 5)", "return a in (2, 3, 5, 7)"),
        ("return a in ['x', 'y']", "return a in ['x', 'y', 'z']"),
    ],
)
def test_a_literal_further_off_is_offered(wrong: str, right: str) -> None:
    assert offers(wrong, right)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("return a * 100", "return a * 750"),
        ("return 'low' if a else 'huge'", "return 'low' if a else 'high'"),
        ("return a * 100", "return a * 0.25"),
    ],
)
def test_a_literal_that_the_docstring_names_is_offered(wrong: str, right: str) -> None:
    doc = "Give 'high' above 750, else 0.25."
    assert offers(wrong, right, doc)


def test_what_an_example_in_the_docstring_gives_is_not_offered() -> None:
    doc = "Something.\n\n    >>> f(1, 2)\n    'secret'\n    "
    assert not any("return 'secret'" in text for text in offered("return 'open'", doc))


def test_a_number_behind_a_sign_gets_no_second_sign() -> None:
    assert not any("--" in text for text in offered("return a[::-1] + b[-2:]"))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("return sum(a)", "return sum(a) / len(a)"),
        ("return sum(a)", "return sum(a) * b"),
        ("return a + b", "return (a + b) ** 2"),
        ("return '-' + a", "return '-' * b + a"),
        ("return abs(a) - abs(b)", "return abs(a - b)"),
        ("return len(a + b)", "return len(a) + len(b)"),
        ("return a.upper()", "return a.isupper()"),
        ("return sum(a) / b", "return round(sum(a) / b, 2)"),
        (
            "def size(x):\n    return b[x]\nreturn sorted(a)",
            "def size(x):\n    return b[x]\nreturn sorted(a, key=size)",
        ),
        (
            "def size(x):\n    return b[x]\nreturn max(a)",
            "def size(x):\n    return b[x]\nreturn max(a, key=lambda item: (size(item), item))",
        ),
        ("return ' '.join(x * b for x in a)", "return ' '.join(a)"),
        ("return [x for x in a]", "return [x for x in a if x.isalpha()]"),
    ],
)
def test_a_missing_or_misplaced_part_of_a_value_is_offered(wrong: str, right: str) -> None:
    assert offers(wrong, right)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("return a[0] == 'x'", "return a and a[0] == 'x'"),
        (
            "while a[b] == ' ':\n    b += 1\nreturn b",
            "while b < len(a) and a[b] == ' ':\n    b += 1\nreturn b",
        ),
        (
            "c = a[b - 1]\nif a[b]:\n    return c",
            "c = a[b - 1]\nif a[b] and a[b] != a[b - 1]:\n    return c",
        ),
    ],
)
def test_a_missing_condition_is_offered(wrong: str, right: str) -> None:
    assert offers(wrong, right)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            "if a:\n    return 1\nelif b:\n    return 2\nelse:\n    return 3",
            "if a:\n    return 1\nelse:\n    return 3",
        ),
        (
            "if a:\n    return 1\nelif b:\n    return 2\nelse:\n    return 3",
            "if b:\n    return 2\nelse:\n    return 3",
        ),
        ("if a:\n    b = 1\nelse:\n    b = 2\nreturn b", "if a:\n    b = 1\nreturn b"),
        (
            "for x in a:\n    if x < 0:\n        return x\nreturn b",
            "for x in a:\n    pass\nreturn b",
        ),
    ],
)
def test_a_branch_too_many_can_be_left_out(wrong: str, right: str) -> None:
    assert offers(wrong, right)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            "out = []\nfor x in a:\n    if x in b:\n        out.append(x)\nreturn out",
            (
                "out = []\nfor x in a:\n    if x in b:\n        out.append(x)\n"
                "    else:\n        out.append(None)\nreturn out"
            ),
        ),
        (
            "if a:\n    b = 1\n    b = 2\nreturn b",
            "if a:\n    b = 1\nelse:\n    b = 2\nreturn b",
        ),
    ],
)
def test_a_missing_else_is_offered(wrong: str, right: str) -> None:
    assert offers(wrong, right)


def test_a_missing_step_of_a_ladder_is_offered_from_what_the_docstring_names() -> None:
    doc = "'gold' from 50 points, 'silver' from 30, else 'none'."
    wrong = "if a >= 50:\n    return 'gold'\nreturn 'none'"
    right = "if a >= 50:\n    return 'gold'\nelif a >= 30:\n    return 'silver'\nreturn 'none'"
    assert offers(wrong, right, doc)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            "for x in b:\n    a = a + x\nreturn a",
            "for x in b:\n    a = a + x\n    x = min(x, a)\nreturn a",
        ),
        ("a = a.strip()\nreturn a + b", "a = a.strip()\nb = b.strip()\nreturn a + b"),
        ("g(a + 1, b)\nreturn a", "g(a + 1, b)\ng(a - 1, b)\nreturn a"),
        ("a.append(1)\na.append(b)", "a.append(1)\na.append(b)\na.pop()"),
        (
            "for x in b:\n    print(a[x])\nreturn a",
            "for x in b:\n    print(a[x])\n    a[x] = False\nreturn a",
        ),
        ("c = b\nb = a\nreturn c", "b = c\nb = a\nreturn c"),
        ("c = b\nc += a\nreturn c", "c = b\nc += a\nif c < 0:\n    c -= b\nreturn c"),
        ("a -= 1\nreturn a", "a >>= 1\nreturn a"),
    ],
)
def test_a_missing_or_mistaken_step_is_offered(wrong: str, right: str) -> None:
    assert offers(wrong, right)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("c = d = e = g = h = a\nreturn c - b", "c = d = e = g = h = a\nreturn c - b - h"),
        ("while a.next:\n    a = b.last\nreturn a", "while a.next:\n    a = b.next\nreturn a"),
        ("c = len(a)\nreturn True", "c = len(a)\nreturn c == 0"),
        ("c = len(a)\nreturn False", "c = len(a)\nreturn not c"),
        ("return 0", "return b"),
        ("c = 0\nc = a + 1\nreturn c", "c = 0\nc = max(a + 1, c)\nreturn c"),
    ],
    ids=["far-variable", "attribute-of-another", "emptiness", "its-opposite", "name", "maximum"],
)
def test_a_value_from_farther_away_is_offered(wrong: str, right: str) -> None:
    assert offers(wrong, right)


@pytest.mark.parametrize(
    ("begin", "step"),
    [("set()", "c.add(b)"), ("[]", "c.append(b)"), ("{a}", "c.add(b)")],
)
def test_a_container_that_nothing_is_put_into_is_filled(begin: str, step: str) -> None:
    wrong = f"c = {begin}\nif b in c:\n    return 1\nreturn 2"
    right = f"c = {begin}\nif b in c:\n    return 1\n{step}\nreturn 2"
    assert offers(wrong, right)


def test_a_lost_else_is_found_by_the_search(make_project: MakeProject, search: Search) -> None:
    project = make_project(
        {
            "masks.py": """
                def masked(text, hidden):
                    out = []
                    for ch in text:
                        if ch in hidden:
                            out.append('?')
                    return ''.join(out)
            """,
            "test_masks.py": """
                from masks import masked

                def test_some():
                    assert masked('secret', 'e') == 's?cr?t'

                def test_none():
                    assert masked('open', 'x') == 'open'

                def test_all():
                    assert masked('aa', 'a') == '??'

                def test_empty():
                    assert masked('', 'a') == ''
            """,
        }
    )
    answer = search(project)
    assert answer.end == "done"
    assert fixed(project, answer) == "passed"
    assert answer.steps[0].patches[0][1].count("else:") == 1
