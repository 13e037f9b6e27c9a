"""Other output in place of what is expected: what a test compares is another value."""

from __future__ import annotations

import json
import re
import string
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from retrai_core.verification.expected_files import changed_output

TEXTS = st.text(alphabet=f"{string.ascii_letters}{string.digits} .,-é☃", max_size=20)
SCALARS = st.none() | st.booleans() | st.integers(-1000, 1000) | TEXTS
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=8
)


@given(st.lists(TEXTS, min_size=1))
def test_every_line_with_a_number_is_another_one_and_nothing_is_added(lines: list[str]) -> None:
    others = changed_output("\n".join(lines)).split("\n")
    assert [len(line) for line in lines] == [len(line) for line in others]
    for line, other in zip(lines, others, strict=True):
        assert line != other or not re.search(r"(?<![A-Za-z\d])\d", line)


@given(st.lists(TEXTS, min_size=2))
def test_a_line_that_ends_with_a_letter_is_another_one(lines: list[str]) -> None:
    assume(lines[-1][-1:].isascii() and lines[-1][-1:].isalpha())
    assert changed_output("\n".join(lines)).split("\n")[-1] != lines[-1]


@pytest.mark.parametrize("style", [{}, {"separators": (",", ":")}, {"indent": 2}, {"indent": 3}])
def test_a_document_keeps_its_style(style: dict[str, Any]) -> None:
    text = json.dumps({"name": "é", "sum": 3}, **style, ensure_ascii=False) + "\n"
    assert changed_output(text) == text.replace("3", "4")


@given(st.lists(DOCUMENTS) | st.dictionaries(TEXTS, DOCUMENTS))
def test_numbers_and_truth_values_of_a_document_are_others_and_its_keys_stay(document) -> None:
    other = json.loads(changed_output(json.dumps(document)))

    def compare(one: object, two: object) -> None:
        assert type(one) is type(two)
        if isinstance(one, dict):
            assert list(one) == list(two)
            for key in one:
                compare(one[key], two[key])
        elif isinstance(one, list):
            for pair in zip(one, two, strict=True):
                compare(*pair)
        elif isinstance(one, int):
            assert one != two

    compare(document, other)
