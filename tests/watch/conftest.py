"""A project to watch."""

from __future__ import annotations

import pytest

from retrai_testkit import RetraiProject

TEST = "from price import {name}\n\n\ndef test_{name}():\n    assert {name}(8) == {wanted}\n"


@pytest.fixture
def shop(retrai_project: RetraiProject) -> RetraiProject:
    """Two functions with a test each, both of which pass."""
    retrai_project.write(
        {
            ".gitignore": "*.log\nbuild/\n",
            "price.py": "def half(price):\n    return price / 2\n\n\n"
            "def double(price):\n    return price * 2\n",
            "test_half.py": TEST.format(name="half", wanted=4),
            "test_double.py": TEST.format(name="double", wanted=16),
        }
    )
    retrai_project.configure(python=None, goal="pytest", sandbox="local")
    return retrai_project
