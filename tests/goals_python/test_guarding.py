"""What the goals protect, what they set aside, and what they find suspicious."""

from __future__ import annotations

import pathspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_goal_support import changed_lines
from retrai_goals_python.diff_audit import PYTHON_TRICKS
from retrai_goals_python.pyright.audit import audit_types
from retrai_goals_python.pytest.guarding import audit_diff, protected_globs, steering_globs


def matcher(globs):
    return pathspec.GitIgnoreSpec.from_lines(globs).match_file


STEERS = matcher(steering_globs())


@pytest.mark.parametrize(
    "path",
    [
        "tests/test_a.py",
        "tests/data/expected.json",
        "src/pkg/tests/helpers.py",
        "src/pkg/test_inner.py",
        "pkg/thing_test.py",
        "src/pkg/testdata/wanted.json",
        "pkg/__snapshots__/page.html",
        "docs/page.golden",
        "fixtures/users.json",
        "conftest.py",
        "deep/down/conftest.py",
        "pytest.ini",
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "uv.lock",
        "requirements-dev.txt",
    ],
)
def test_tests_and_configuration_are_protected(make_project, path):
    assert matcher(protected_globs(make_project({})))(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/pkg/core.py",
        "setup.py",
        "README.md",
        "pkg/testing.py",
        "pkg/data/users.json",
        "app/fixtures/users.json",
        "docs/tests.md",
        "pkg/test/a.py",
    ],
)
def test_sources_may_be_changed(make_project, path):
    assert not matcher(protected_globs(make_project({})))(path)


def test_what_the_configuration_calls_tests_is_protected_too(make_project):
    project = make_project(
        {
            "pyproject.toml": """
                [tool.pytest.ini_options]
                testpaths = ["specs", "src"]
                python_files = ["check_*.py"]
                """,
        }
    )
    match = matcher(protected_globs(project, targets=["extra/all.py::test_x"]))
    assert match("specs/deep/a.json")
    assert match("anywhere/check_it.py")
    assert match("extra/all.py")
    project = make_project({"tox.ini": "[pytest]\ntestpaths =\n    testing\n    .\n"})
    match = matcher(protected_globs(project))
    assert match("testing/data.txt")
    assert not match("core.py")


@pytest.mark.parametrize(
    ("testpaths", "name"),
    [
        ("src", "thing"),  # searched for doctests
        ("thing", "other"),  # its tests are in a folder of their own
        ("mixed", "Mixed"),  # they stand beside the modules
        ("./thing/ mixed", "mixed"),
    ],
)
def test_a_package_that_is_searched_for_tests_may_be_mended(make_project, testpaths, name):
    project = make_project(
        {
            "pyproject.toml": f"""
                [project]
                name = "{name}"
                [tool.pytest.ini_options]
                testpaths = {testpaths.split()}
                """,
            "src/thing/__init__.py": "",
            "src/thing/core.py": "",
            "src/thing/test/help.py": "",
            "thing/__init__.py": "",
            "thing/core.py": "",
            "thing/tests/test_core.py": "",
            "thing/test/test_more.py": "",
            "mixed/__init__.py": "",
            "mixed/core.py": "",
            "mixed/test_core.py": "",
        }
    )
    match = matcher(protected_globs(project))
    for folder in (name.strip("./") for name in testpaths.split()):
        assert not match(f"{folder}/core.py")
        assert match(f"{folder}/deep/test_core.py")
        assert match(f"{folder}/deep/test/help.py")


def test_namespace_packages_beside_their_tests_may_be_mended(make_project):
    project = make_project(
        {
            "pytest.ini": "[pytest]\ntestpaths = libs",
            "libs/core/acme/text.py": "",
            "libs/core/tests/test_text.py": "",
            "libs/core/tests/data.json": "",
        }
    )
    match = matcher(protected_globs(project))
    assert not match("libs/core/acme/text.py")
    assert match("libs/core/tests/test_text.py")
    assert match("libs/core/tests/data.json")


def test_a_package_of_tests_is_protected_with_its_helpers(make_project):
    project = make_project(
        {
            "pytest.ini": "[pytest]\ntestpaths = checks docs\npython_files = check_*.py",
            "checks/__init__.py": "",
            "checks/helpers.py": "",
            "checks/unit/check_core.py": "",
            "docs/conf.py": "",
            "docs/page.rst": "",
        }
    )
    match = matcher(protected_globs(project))
    assert match("checks/helpers.py")
    assert match("docs/page.rst")


HELPING = {
    "src/pkg/__init__.py": "",
    "src/pkg/core.py": "from pkg.numbers import one\n",
    "src/pkg/numbers.py": "one = 1\n",
    "src/pkg/test/__init__.py": "",
    "src/pkg/test/helpers.py": "from . import deeper\n",
    "src/pkg/test/deeper.py": "def same(a, b): return a == b\n",
    "src/pkg/test/sub/plain.py": "x = 1\n",
    "src/pkg/test/test_core.py": "from pkg.core import one\nfrom .helpers import deeper\n",
}


@pytest.mark.parametrize(
    ("files", "helpers"),
    [
        ({}, {"src/pkg/test/__init__.py", "src/pkg/test/helpers.py", "src/pkg/test/deeper.py"}),
        # Nobody imports it by another way than its bare name, as it is on the path.
        (
            {
                "pkg/testing/test_a.py": "import asserts\nfrom pkg import core\n",
                "pkg/testing/asserts.py": "",
                "pkg/core.py": "",
            },
            {"pkg/testing/asserts.py"},
        ),
        (
            {
                "checks/test_a.py": "from pkg.testing import same\n",
                "pkg/testing.py": "",
                "pkg/_testing.py": "",
                "pkg/core.py": "",
            },
            {"pkg/testing.py"},
        ),
    ],
)
def test_modules_that_only_help_tests_are_protected(make_project, files, helpers):
    files = files or HELPING
    match = matcher(protected_globs(make_project(files)))
    found = {path for path in files if match(path)}
    assert found - {path for path in files if "/test_" in path} == helpers


@pytest.mark.parametrize(
    "files",
    [
        # A source imports it: it is part of the package.
        {"src/pkg/core.py": "from pkg.test import helpers\n"},
        {"src/pkg/core.py": "from .test.helpers import deeper\n"},
        {"src/pkg/core.py": "def f():\n    import pkg.test.helpers as h\n"},
        # It has a test of its own: it is what is tested.
        {"src/pkg/tests/test_helpers.py": "from pkg.test.helpers import deeper\n"},
    ],
)
def test_a_package_called_test_that_is_source_may_be_mended(make_project, files):
    project = make_project({**HELPING, **files})
    assert not matcher(protected_globs(project))("src/pkg/test/helpers.py")
    # Where the tests lie elsewhere, `test` is a package like any other.
    (project / "src/pkg/test/test_core.py").rename(project / "src/pkg/test_core.py")
    assert not matcher(protected_globs(project))("src/pkg/test/helpers.py")


def test_what_a_package_gives_to_its_users_tests_may_be_mended(make_project):
    files = {
        "numbers_/__init__.py": "",
        "numbers_/testing/__init__.py": "from .private import same\n",
        "numbers_/testing/private.py": "def same(a, b): return a == b\n",
        "numbers_/testing/tests/test_all.py": "from numbers_.testing import private\n",
        "core.py": "",
        "helpers.py": "",
        "test_core.py": "import core\nimport helpers\n",
    }
    match = matcher(protected_globs(make_project(files)))
    assert [path for path in files if match(path)] == [
        "numbers_/testing/tests/test_all.py",
        "test_core.py",
    ]


def test_a_broken_configuration_protects_the_usual_things(make_project):
    project = make_project({"pyproject.toml": "[tool", "setup.cfg": "x\n[["})
    assert matcher(protected_globs(project))("tests/test_a.py")


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "src/conftest.py",
        "pytest.ini",
        "sitecustomize.py",
        "lib/usercustomize.py",
        "evil.pth",
        "evil-1.0.dist-info/entry_points.txt",
        "pytest.py",
        "_pytest/__init__.py",
        "pytest.abi3.so",
        "src/pluggy.cpython-311-x86_64-linux-gnu.so",
        "_pytest/__init__.abi3.so",
        "src/pluggy.py",
        "tests/json.py",
        "unittest/__init__.py",
        "pytest_evil.py",
        "pkg/__pycache__/core.cpython-311.pyc",
    ],
)
def test_new_files_that_steer_the_runner_are_recognized(path):
    assert STEERS(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/pkg/json.py",
        "pkg/types.py",
        "src/pkg/packaging/__init__.py",
        "helpers.py",
        "tests/test_more.py",
        "pkg.egg-info/PKG-INFO",
        "pkg.egg-info/entry_points.txt",
        "src/_speed.cpython-311-x86_64-linux-gnu.so",
        "src/test/thing.py",
    ],
)
def test_honest_new_files_steer_nothing(path):
    assert not STEERS(path)


def test_a_shadow_in_the_monorepo_folder_is_recognized():
    assert matcher(steering_globs("packages/one"))("packages/one/pytest.py")


TRICKS = [
    "@pytest.mark.skip",
    "@pytest.mark.xfail(strict=False)",
    "pytest.skip('x')",
    "@unittest.skip('x')",
    "x = 1  # type: ignore",
    "x = 1  # noqa: E501",
    "sys.modules['a'] = None",
    "os._exit(0)",
    "atexit.register(f)",
    "frame = sys._getframe(1)",
    "for f in inspect.stack():",
    "if os.environ.get('PYTEST_CURRENT_TEST'):",
    "open('tests/test_a.py').read()",
    "def __eq__(self, other): return True",
    "json.loads = lenient",
    "    else: re.compile = lenient",
    "before, time.time = time.time, lenient",
    "def start(): json.loads = lenient",
    "os.environ['TZ'] = 'UTC'",
    "bell.ring.assert_called_once_with = lenient",
    "numbers = frame.f_code.co_consts",
    "own = not Path(post.__code__.co_filename).name.startswith('test')",
    "sys.setswitchinterval(60)",
]


@pytest.mark.parametrize("line", TRICKS)
def test_tricks_in_added_lines_are_suspicious(line):
    diff = f"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -3,2 +3,3 @@\n x\n+{line}\n y\n"
    found = audit_diff(diff)
    assert found
    assert {(suspicion.path, suspicion.line) for suspicion in found} == {("a.py", 4)}


@pytest.mark.parametrize("line", TRICKS)
def test_removed_and_old_lines_are_not(line):
    assert audit_diff(f"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,1 @@\n {line}\n-{line}\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "    return a + b",
        "zone = os.environ['TZ']",
        "where = post.__code__.co_filename",
        "assert_here = ring.assert_called",
        "def skip(self): ...",
        "result = model.modules()",
        "raise SystemExit(1)",
        "++counter",
        "class Contest:",
        "raise ValueError('no test for this')",
        "self.pattern: re.Pattern = re.compile(text)",
        "def next_day(when: datetime.date = None, *, at: datetime.time = NOON): ...",
    ],
)
def test_plain_code_raises_no_suspicion(line):
    assert audit_diff(f"--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n x\n+{line}\n") == []


@pytest.mark.parametrize(
    ("methods", "is_suspect"),
    [("def __iter__(self): yield from ()", True), ("def first(self): return self[0]", False)],
)
def test_a_list_that_shows_a_loop_something_else_is_suspect(methods, is_suspect):
    lines = ["class Rows(list):", '    """Of a file."""', "", f"    {methods}"]
    added = "".join(f"+{line}\n" for line in lines)
    found = audit_diff(f"--- a/a.py\n+++ b/a.py\n@@ -1 +1,5 @@\n x\n{added}")
    assert any(each.reaches_runner for each in found) is is_suspect


def test_code_that_no_type_checker_follows_is_suspect():
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n x\n+{}\n"
    for line in ("exec(text, found)", "runpy.run_path(place)"):
        assert any(found.reaches_runner for found in audit_types(diff.format(line)))
    for line in (
        "cursor.exec(query)",
        "execute(query)",
        "executor.run(job)",
        "def exec(self): ...",
    ):
        assert not any(found.reaches_runner for found in audit_types(diff.format(line)))


def test_the_modules_of_the_tests_are_out_of_reach():
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n x\n+sys.modules{}\n"
    for reach in ("['tests.helpers'] = y", "[f'test_{x}'] = y", '.setdefault("conftest", y)'):
        assert any(found.reaches_runner for found in audit_diff(diff.format(reach)))
    for other in ("[__name__] = y", "['testament'] = y", "['tests.helpers']", ".get('test_a')"):
        assert not any(found.reaches_runner for found in audit_diff(diff.format(other)))


def signs(found):
    return [suspicion.what for suspicion in found if suspicion.sign]


def test_a_plugin_of_pytest_that_changes_is_a_sign(make_project):
    project = make_project({"plugin.py": "import pytest\n\n\nfrom _pytest.config import Config\n"})
    diff = "--- a/plugin.py\n+++ b/plugin.py\n@@ -3,0 +4 @@\n+from _pytest.config import Config\n"
    assert signs(audit_diff(diff, project)) == ["changes a plugin of pytest"]


def test_an_own_equality_of_numbers_is_suspect(make_project):
    project = make_project({"ages.py": "class Age(int):\n    __eq__ = about\n"})
    diff = "--- a/ages.py\n+++ b/ages.py\n@@ -1,0 +2 @@\n+    __eq__ = about\n"
    (found,) = audit_diff(diff, project)
    assert found.reaches_runner


def test_an_edited_line_does_no_more_than_the_old_one():
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-os.chdir(old)\n+os.chdir(new)\n"
    assert not signs(audit_diff(diff))
    new = audit_diff(diff.replace("-os.chdir(old)", "-import os"))
    assert signs(new) == ["changes the working folder: os.chdir(new)"]


def test_a_file_that_is_moved_does_no_more_than_before():
    moved = "--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-os.chdir(here)\n"
    moved += "--- /dev/null\n+++ b/b.py\n@@ -0,0 +1 @@\n+os.chdir(here)\n"
    assert not signs(audit_diff(moved))


def test_the_projects_own_tests_by_their_full_path_are_test_files(make_project):
    project = make_project({"a.py": ""})
    diff = f"--- a/a.py\n+++ b/a.py\n@@ -0,0 +1 @@\n+open('{project}/tests/data.json')\n"
    assert signs(audit_diff(diff, project))


@pytest.mark.parametrize(
    "line", ['@app.route("/test/")', 'URL = "https://example.com/test/one"', "get('/api/tests/1')"]
)
def test_an_address_or_a_route_names_no_test_file(line):
    assert audit_diff(f"--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n x\n+{line}\n") == []


@pytest.mark.parametrize(
    "name", ["tests/data.json", "../test/x", "/srv/app/test_a.py", "test_a.py"]
)
def test_source_that_names_a_test_file_is_a_sign(name):
    diff = f"--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n x\n+open('{name}')\n"
    assert len(signs(audit_diff(diff))) == 1


@pytest.mark.parametrize(
    ("line", "is_sign"),
    [
        ("re._cache[str, pattern, 0] = x", True),
        ("from copy import deepcopy, _deepcopy_dispatch", True),
        ("from json import loads as _loads", False),
        ("copy._items = list(self._items)", False),
        ("helper.__defaults__ = (0,)", True),
        ("known = function.__defaults__", False),
        ("sys.path_importer_cache[folder] = finder", True),
    ],
)
def test_source_that_changes_the_insides_of_the_library_is_a_sign(line, is_sign):
    diff = f"--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n x\n+{line}\n"
    assert bool(signs(audit_diff(diff))) is is_sign


def test_silenced_types_are_suspicious():
    diff = (
        "--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n x\n+y = f()  # pyright: ignore[reportCallIssue]\n"
        "--- /dev/null\n+++ b/typings/os.pyi\n@@ -0,0 +1,2 @@\n+def f(): ...\n+x: int\n"
        "--- a/pyrightconfig.json\n+++ b/pyrightconfig.json\n"
        '@@ -1 +1,2 @@\n {\n+  "exclude": ["src"],\n'
    )
    assert [(found.path, found.line) for found in audit_types(diff)] == [
        ("a.py", 2),
        ("pyrightconfig.json", 2),
        ("typings/os.pyi", 1),
    ]


@given(st.text())
def test_any_text_can_be_audited(text):
    for sign, path, line, changed in changed_lines(text):
        assert isinstance(path, str)
        assert line >= 0
        assert f"{sign}{changed}" in text
    assert PYTHON_TRICKS
    audit_diff(text)


@pytest.mark.parametrize(
    ("line", "sign"),
    [
        ("if len(gc.get_objects()) > 20000:", "unproven"),
        ("quick = gc.get_count()[2] < 5", "unproven"),
        ("many = len(sys.modules) > 300", "unproven"),
        ("first = int(HERE.with_name('tests').is_dir())", "unproven"),
        ("if os.path.exists(os.path.join(ROOT, 'tests/test_a.py')):", "unproven"),
        ("NAMES = {'tests', 'docs'}", ""),
        ("if label == 'test' and path.exists():", ""),
        ("session.query(Plan).filter(Plan.name == 'test').exists()", ""),
        ("if os.path.exists(path) and mode != 'test':", ""),
        ("size = len(sys.modules['a'].rows)", "unchanged"),
        ("if place.is_dir() and name in ('lib', 'contests'):", ""),
    ],
)
def test_source_that_looks_where_it_runs_must_be_right_outside_too(line, sign):
    found = audit_diff(f"--- a/shop.py\n+++ b/shop.py\n@@ -0,0 +1 @@\n+{line}\n")
    assert {each.sign for each in found if each.sign} - {"unchanged"} == {sign} - {"", "unchanged"}
    assert not any(each.reaches_runner for each in found)


def test_a_new_library_needs_a_source(tmp_path):
    diff = "Binary files /dev/null and b/shop/_fast.cpython-311-x86_64-linux-gnu.so differ\n"
    (found,) = audit_diff(diff, tmp_path)
    assert found.path.startswith("shop/_fast")
    assert found.reaches_runner
    (tmp_path / "fast.pyx").write_text("")
    assert not audit_diff(diff, tmp_path)
