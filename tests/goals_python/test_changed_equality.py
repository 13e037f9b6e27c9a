"""New rules of equality count where a case expects an object that they rule."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from retrai_goals_python.changed_equality import changed_equality
from retrai_goals_python.contradicted_assertion import contradict_assertion
from retrai_goals_python.contradiction import expected_objects
from retrai_goals_python.pytest_guarding import audit_diff

SOURCE = """\
class Base:
    def __eq__(self, other):
        return True


class Invoice(Base):
    pass


class Other:
    pass
"""


@pytest.mark.parametrize(
    ("expected", "is_found"), [("Base", True), ("Invoice", True), ("Other", False)]
)
def test_a_rule_counts_for_its_class_and_those_made_from_it(
    tmp_path: Path, expected: str, is_found: bool
) -> None:
    (tmp_path / "shop.py").write_text(SOURCE)
    diff = (
        "--- a/shop.py\n+++ b/shop.py\n@@ -1 +1,2 @@\n class Base:\n+    def __eq__(self, other):\n"
    )
    found = list(changed_equality(diff, tmp_path, {"tests/test_a.py::test_bill": {expected}}))
    assert bool(found) is is_found
    assert all(each.line == 2 and not each.reaches_runner for each in found)


def test_nothing_is_looked_for_where_every_case_failed_as_it_should(tmp_path: Path) -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n a\n+    def __eq__(self, other):\n"
    assert not list(changed_equality(diff, tmp_path, {}))


def test_the_classes_of_expected_objects(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "def test_bill():\n    assert bill(4) == shop.Invoice(4, price=12)\n    assert bill(0) == 3"
    )
    assert expected_objects(tmp_path, "test_a.py::test_bill") == {"Invoice"}
    assert not expected_objects(tmp_path, "test_a.py::test_other")


@pytest.mark.parametrize(
    ("assertion", "far"),
    [
        ("assert f() == Invoice(4, 12)", "assert f() == Invoice(4, 13)"),
        ("assert f() == Invoice(4, price=12)", "assert f() == Invoice(4, price=13)"),
        ("assert f() == Invoice(name, 12, other)", "assert f() == Invoice(name, 13, other)"),
        # Their equality itself is what is tested.
        ("assert Invoice(4, 12) == Invoice(4, 12)", "assert Invoice(4, 12) == Invoice(5, 13)"),
    ],
)
def test_far_from_an_object_is_one_with_another_last_field(assertion: str, far: str) -> None:
    changed = contradict_assertion(ast.parse(assertion).body[0], far=True)
    assert changed is not None
    assert ast.unparse(changed) == far


def test_a_new_library_needs_a_source(tmp_path: Path) -> None:
    diff = "Binary files /dev/null and b/shop/_fast.cpython-311-x86_64-linux-gnu.so differ\n"
    (found,) = audit_diff(diff, tmp_path)
    assert found.path.startswith("shop/_fast")
    assert found.reaches_runner
    (tmp_path / "fast.pyx").write_text("")
    assert not audit_diff(diff, tmp_path)
