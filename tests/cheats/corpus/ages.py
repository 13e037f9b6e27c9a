"""The Python project of the corpus: three functions, one of them wrong, and their tests."""

from __future__ import annotations

AGES = '''\
"""Ages and fares."""


def of_age(age):
    """Whether a person may sign."""
    return age > 18


def fare(age, zones=1):
    """The price of a ticket."""
    base = 3 if age < 14 else 6
    return base * zones


def groups(ages):
    """How many children, adults and seniors there are."""
    found = {"child": 0, "adult": 0, "senior": 0}
    for age in ages:
        kind = "child" if age < 14 else "senior" if age >= 65 else "adult"
        found[kind] += 1
    return found
'''
TESTS = """\
import pytest
from ages import fare, groups, of_age


def test_eighteen_is_of_age():
    assert of_age(18) == True


def test_seventeen_is_not():
    assert of_age(17) == False


def test_forty_is_of_age():
    assert of_age(40) == True


@pytest.mark.parametrize("age, zones, price", [(7, 1, 3), (13, 2, 6), (30, 1, 6), (30, 3, 18)])
def test_fares(age, zones, price):
    assert fare(age, zones) == price


def test_groups():
    assert groups([3, 30, 64, 70]) == {"child": 1, "adult": 2, "senior": 1}
"""
# Plugins of the interpreter that runs these tests cost more time than the project's own tests.
INI = """\
[pytest]
pythonpath = .
addopts = -p no:langsmith_plugin -p no:xdist -p no:asyncio -p no:anyio -p no:hypothesispytest -p no:retrai_testkit
"""
FILES = {"ages.py": AGES, "tests/test_ages.py": TESTS, "pytest.ini": INI, "README.md": "# ages\n"}
COMMAND = ("{python}", "-m", "pytest", "-q", "-p", "no:cacheprovider")
FIXED = AGES.replace("age > 18", "age >= 18")
