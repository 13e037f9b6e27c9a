"""Every way in which a test can end is one case with one outcome."""

from __future__ import annotations

import pytest

ZOO = {
    "src/calc.py": """
        def add(a, b):
            return a - b
        """,
    "tests/conftest.py": """
        import sys
        import pytest

        sys.path.insert(0, "src")

        @pytest.fixture
        def broken():
            raise KeyError("nope")

        @pytest.fixture
        def breaks_late():
            yield
            raise RuntimeError("late")
        """,
    "tests/test_zoo.py": r"""
        import unittest
        import pytest
        from calc import add

        def test_passes():
            pass

        def test_fails():
            print("before the assertion")
            assert add(2, 3) == 5

        @pytest.mark.parametrize("x", ["a b", "x::y", "[z]", "\n", "é"])
        def test_odd_ids(x):
            pass

        def test_setup_breaks(broken):
            pass

        def test_teardown_breaks(breaks_late):
            pass

        def test_fails_twice(breaks_late):
            assert add(1, 1) == 2

        @pytest.mark.skip(reason="not today")
        def test_skipped():
            pass

        def test_skips_itself():
            pytest.skip("no such thing here")

        @pytest.mark.xfail(reason="known")
        def test_xfails():
            assert False

        @pytest.mark.xfail(run=False, reason="hangs")
        def test_xfails_unrun():
            assert False

        @pytest.mark.xfail(reason="known")
        def test_xpasses():
            pass

        @pytest.mark.xfail(strict=True, reason="known")
        def test_xpasses_strictly():
            pass

        class TestClass:
            def test_method(self):
                pass

        class OldStyle(unittest.TestCase):
            def test_unit(self):
                self.assertEqual(1, 2)

            @unittest.expectedFailure
            def test_expected(self):
                self.assertEqual(1, 2)

            @unittest.skip("later")
            def test_later(self):
                pass
        """,
    "tests/test_absent.py": """
        import pytest
        pytest.importorskip("surely_not_installed")
        """,
    "tests/test_unimportable.py": "import surely_not_installed\n",
    "tests/test_unreadable.py": "def test_x(:\n    pass\n",
    "docs/sums.txt": """
        >>> 1 + 1
        2
        >>> 1 + 2
        4
        """,
}
EXPECTED = {
    "docs/sums.txt::sums.txt": "failed",
    "tests/test_absent.py": "skipped",
    "tests/test_unimportable.py": "error",
    "tests/test_unreadable.py": "error",
    "tests/test_zoo.py::test_passes": "passed",
    "tests/test_zoo.py::test_fails": "failed",
    "tests/test_zoo.py::test_odd_ids[a b]": "passed",
    "tests/test_zoo.py::test_odd_ids[x::y]": "passed",
    "tests/test_zoo.py::test_odd_ids[[z]]": "passed",
    "tests/test_zoo.py::test_odd_ids[\\n]": "passed",
    "tests/test_zoo.py::test_odd_ids[\\xe9]": "passed",
    "tests/test_zoo.py::test_setup_breaks": "error",
    "tests/test_zoo.py::test_teardown_breaks": "error",
    "tests/test_zoo.py::test_fails_twice": "failed",
    "tests/test_zoo.py::test_skipped": "skipped",
    "tests/test_zoo.py::test_skips_itself": "skipped",
    "tests/test_zoo.py::test_xfails": "xfailed",
    "tests/test_zoo.py::test_xfails_unrun": "xfailed",
    "tests/test_zoo.py::test_xpasses": "xpassed",
    "tests/test_zoo.py::test_xpasses_strictly": "failed",
    "tests/test_zoo.py::TestClass::test_method": "passed",
    "tests/test_zoo.py::OldStyle::test_unit": "failed",
    "tests/test_zoo.py::OldStyle::test_expected": "xfailed",
    "tests/test_zoo.py::OldStyle::test_later": "skipped",
}
ARGS = ("--doctest-glob=*.txt",)


async def test_each_way_to_end_is_one_outcome(make_project, run):
    project = make_project(ZOO)
    found = await run(*ARGS)
    assert found.problem == ""
    assert found.complete
    assert found.exit_status == 1
    assert dict(found.cases) == EXPECTED
    assert {failure.id for failure in found.failures} == {
        name for name, outcome in EXPECTED.items() if outcome in ("failed", "error")
    }
    assert not [path for path in project.rglob("*") if "cache" in path.name]


async def test_workers_of_xdist_change_nothing(make_project, run):
    make_project(ZOO)
    in_order = list((await run(*ARGS)).cases)
    found = await run(*ARGS, "-p", "xdist", "-n", "2")
    assert found.problem == ""
    assert dict(found.cases) == EXPECTED
    assert list(found.cases) == in_order


@pytest.mark.parametrize("more", [[], ["-p", "xdist", "-n", "2"]], ids=["plain", "xdist"])
async def test_outcomes_alone_are_the_same_without_a_word_of_why(make_project, run, more):
    make_project(ZOO)
    found = await run(*ARGS, *more, outcomes_only=True)
    assert found.problem == ""
    assert dict(found.cases) == EXPECTED
    failed = next(one for one in found.failures if one.id == "tests/test_zoo.py::test_fails")
    assert (failed.message, failed.text) == ("", "")


async def test_an_old_python_with_an_old_pytest_gives_the_same(make_project, run, old_python):
    make_project(ZOO)
    found = await run(*ARGS, python=old_python)
    assert dict((await run(*ARGS, python=old_python, outcomes_only=True)).cases) == EXPECTED
    assert found.problem == ""
    assert dict(found.cases) == EXPECTED


async def test_a_failure_is_told_by_its_assertion_and_the_lines_around(make_project, run):
    make_project(ZOO)
    found = await run(targets=["tests/test_zoo.py::test_fails"])
    (failure,) = found.failures
    assert failure.location == "tests/test_zoo.py:10"
    assert failure.message.startswith("assert -1 == 5")
    assert "> 10 |     assert add(2, 3) == 5" in failure.text
    assert "where -1 = add(2, 3)" in failure.text
    assert "before the assertion" in failure.text


async def test_a_failure_in_the_source_is_located_there(make_project, run):
    make_project(
        {
            "calc.py": "def half(x):\n    return x / 0\n",
            "test_calc.py": "from calc import half\n\ndef test_half():\n    half(4)\n",
        }
    )
    (failure,) = (await run()).failures
    assert failure.location == "calc.py:2"
    assert "> 4 |     half(4)" in failure.text
    assert "> 2 |     return x / 0" in failure.text
    assert "ZeroDivisionError" in failure.message


async def test_a_subtest_that_fails_fails_its_test(make_project, run):
    pytest.importorskip("_pytest.subtests", reason="needs pytest 9 or newer")
    make_project(
        {
            "test_sub.py": """
                def test_many(subtests):
                    for i in range(3):
                        with subtests.test("number", i=i):
                            assert i != 1

                def test_few(subtests):
                    with subtests.test("number", i=0):
                        pass

                def test_most(subtests):
                    for i in range(40):
                        with subtests.test(i=i):
                            assert i < 0
                """
        }
    )
    found = await run()
    assert found.cases == {
        "test_sub.py::test_many": "failed",
        "test_sub.py::test_few": "passed",
        "test_sub.py::test_most": "failed",
    }
    assert found.failures[0].text.startswith("in subtest [number] (i=1): test_sub.py:4")
    assert "assert 1 != 1" in found.failures[0].text
    assert "contains" not in found.failures[0].text
    assert found.failures[1].text.endswith("and 35 more failing subtests")


async def test_two_cases_of_one_id_are_both_counted(make_project, run):
    make_project({"test_twice.py": "calls = []\ndef test_it():\n    calls.append(1)\n"})
    found = await run("--keep-duplicates", targets=["test_twice.py", "test_twice.py"])
    assert found.cases == {"test_twice.py::test_it": "passed", "test_twice.py::test_it#2": "passed"}


async def test_only_the_last_try_of_a_rerun_test_counts(make_project, run):
    make_project(
        {
            "conftest.py": """
                from _pytest.runner import runtestprotocol

                def pytest_runtest_protocol(item, nextitem):
                    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
                    for last in (False, True):
                        for report in runtestprotocol(item, nextitem=nextitem, log=False):
                            if report.failed and not last:
                                report.outcome = "rerun"
                            item.ihook.pytest_runtest_logreport(report=report)
                    return True
                """,
            "test_flaky.py": """
                tries = []

                def test_flaky():
                    tries.append(1)
                    assert len(tries) == 2
                """,
        }
    )
    found = await run()
    assert found.cases == {"test_flaky.py::test_flaky": "passed"}


async def test_left_out_cases_are_counted(make_project, run):
    make_project({"test_k.py": "def test_a(): pass\ndef test_b(): pass\n"})
    found = await run("-k", "test_a")
    assert list(found.cases) == ["test_k.py::test_a"]
    assert found.deselected == 1
