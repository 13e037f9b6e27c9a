"""Of two compared values the expected one is known where the test, or a whole file, holds it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from retrai_goals_python.pytest.expected_values import ExpectedValues

TEST = """\
from shop import rows


def test_rows():
    wanted = {text}
    assert rows() == wanted
"""


def among(folder: Path, *compared: str, answers: Sequence[str] = ("['another']",)) -> list[str]:
    return ExpectedValues(folder).among(compared, answers, ["test_a.py"])


@pytest.mark.parametrize(
    "expected", ["'the first'", "['the first', 'the second']", "{'the first': 1}"]
)
def test_a_value_that_stands_in_the_test_is_expected(tmp_path: Path, expected: str) -> None:
    (tmp_path / "test_a.py").write_text(TEST.format(text="['the first', 'the second', 1]"))
    assert among(tmp_path, expected, "'another'") == [expected]
    assert among(tmp_path, "'another'", expected) == [expected]


def test_a_value_that_is_all_of_a_file_is_expected(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes("<p>à la carte</p>\r\n".encode())
    (tmp_path / "binary.bin").write_bytes(bytes(range(128, 147)))
    (tmp_path / "nowhere").symlink_to("gone")
    assert among(tmp_path, "'<p>à la carte</p>'", "'another'") == ["'<p>à la carte</p>'"]


@pytest.mark.parametrize(
    ("compared", "answers"),
    [
        (("'the first'", "'another'"), ()),  # nothing was recorded
        (("'the first'", "'another'"), ("'the first'", "'another'")),  # both are answers
        (("'the first'", "'other'"), ("'another'",)),  # neither is
        (("'ab'", "'another'"), ("'another'",)),  # it is short
        (("'      '", "'another'"), ("'another'",)),  # an empty file is no text
        (("[1, 2, 3]", "'another'"), ("'another'",)),
        (("[[], [], []]", "'another'"), ("'another'",)),
        (("{'the first', 'the second'}", "'another'"), ("'another'",)),
        (("'stands nowhere'", "'another'"), ("'another'",)),
    ],
)
def test_what_may_be_another_value_is_not_known(
    tmp_path: Path, compared: tuple[str, str], answers: tuple[str, ...]
) -> None:
    (tmp_path / "test_a.py").write_text(
        TEST.format(text="['the first', 'the second', 'ab', 1, 2, 3]")
    )
    (tmp_path / "__init__.py").touch()
    assert among(tmp_path, *compared, answers=answers) == []


def test_what_chance_takes_part_in_is_not_known(tmp_path: Path) -> None:
    text = TEST.format(text="'the first'")
    (tmp_path / "test_a.py").write_text(f"import random\n{text}")
    assert among(tmp_path, "'the first'", "'another'") == []
