"""Other output in place of what is expected: no line that says something stays as it is."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from retrai_core.verification.expected_files import changed_output

LINES = st.lists(st.text(alphabet=f"{string.ascii_letters}{string.digits} .,-é☃", max_size=20))


@given(LINES)
def test_each_line_with_a_digit_or_else_each_with_a_letter_is_another_one(lines: list[str]) -> None:
    text = "\n".join(lines)
    other = changed_output(text).split("\n")
    kinds = (set(string.digits), set(string.ascii_letters))
    kind = next((kind for kind in kinds if kind & set(text)), set())
    assert [a != b for a, b in zip(text.split("\n"), other, strict=True)] == [
        not kind.isdisjoint(line) for line in text.split("\n")
    ]
    assert list(map(len, text.split("\n"))) == list(map(len, other))
