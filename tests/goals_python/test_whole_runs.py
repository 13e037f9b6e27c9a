"""For each Python goal a pair of whole runs: one that fixes its example, and one that does not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
Here = Callable[..., subprocess.CompletedProcess[str]]
Call = tuple[str, dict[str, str]]
LOOK: Call = ("file_list", {"path": "."})
# Plugins of the interpreter that runs these tests cost more time than the example's tests.
QUICK = "[pytest]\npythonpath = {path}\naddopts = -p no:xdist\n"


def patch(path: str, old: str, new: str) -> Call:
    """One exact replacement."""
    return "file_patch", {"path": path, "old": old, "new": new}


PYRIGHT = [
    patch("shop/prices.py", "PRICES.get(item)", "PRICES.get(item, 0)"),
    patch("shop/orders.py", "default_factory=dict)", "default_factory=dict[str, int])"),
    patch("shop/orders.py", '"total: " + self.total()', 'f"total: {self.total()}"'),
]
PYTEST = [patch("ages.py", "age > 18", "age >= 18")]
PYTEST_FILES = {
    "ages.py": "def of_age(age):\n    return age > 18\n",
    "test_ages.py": "from ages import of_age\n\n\ndef test_eighteen():\n    assert of_age(18)\n",
    "pytest.ini": QUICK.format(path="."),
}


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    if request.param == "pyright":
        shutil.copytree(EXAMPLES / "pyright", folder)
        return folder
    folder.mkdir()
    for name, text in PYTEST_FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def run(here: Here, goal: str, project: Path, calls: list[Call]) -> tuple[int, dict[str, Any]]:
    """Replay these calls, an iteration each; the exit code and the run's record."""
    lines: list[str] = []
    for number, (name, args) in enumerate(calls):
        made = {"id": f"c{number}", "name": name, "args": args}
        payload = {"text": f"step {number}", "tool_calls": [made]}
        event = {"kind": "llm_usage", "run_id": "r", "iteration": number, "ts": 0.0}
        lines.append(json.dumps({**event, "payload": payload}) + "\n")
    record = project.with_name("recorded.jsonl")
    record.write_text("".join(lines), encoding="utf-8")
    home = project.with_name("home")
    command = ["run", goal, "-C", str(project), "--json"]
    command += ["-m", f"replay:{record}", "-n", str(len(calls))]
    folders = {"RETRAI_STATE_DIR": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config")}
    done = here(*command, env=os.environ | folders)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


GOALS = pytest.mark.parametrize(
    ("project", "goal", "calls"),
    [("pytest", "pytest", PYTEST), ("pyright", "pyright", PYRIGHT)],
    ids=["pytest", "pyright"],
    indirect=["project"],
)


@GOALS
def test_a_trajectory_that_mends_it_is_achieved(
    goal: str, project: Path, calls: list[Call], retrai_here: Here
) -> None:
    code, record = run(retrai_here, goal, project, calls)
    assert (code, record["status"]) == (0, "achieved"), record["reason"]
    assert record["goals"][0]["before"]["achieved"] is False
    assert set(record["goals"][0]["after"]["counts"]) == {"passed"}


@GOALS
def test_its_twin_that_only_looks_has_failed(
    goal: str, project: Path, calls: list[Call], retrai_here: Here
) -> None:
    code, record = run(retrai_here, goal, project, [LOOK] * 2)
    assert (code, record["status"]) == (1, "failed"), record["reason"]
    assert record["goals"][0]["after"]["counts"].get("failed")


OLD = """\
import os  # noqa: F401
import re  # noqa: F401


def of_age(age):
    if age < 0:  # pragma: no cover
        return None  # type: ignore[return-value]
    return age > 18
"""
AGES_TEST = "from ages import of_age\n\n\ndef test_eighteen():\n    assert of_age(18)\n"
MEND = patch("ages.py", "age > 18", "age >= 18")


def shell(command: str) -> Call:
    return "bash_exec", {"command": command}


@pytest.fixture
def commented(tmp_path: Path) -> Path:
    """A project whose source has comments for checkers."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "ages.py").write_text(OLD)
    (folder / "test_ages.py").write_text(AGES_TEST)
    (folder / "pytest.ini").write_text(QUICK.format(path="."))
    return folder


def findings(retrai_here: Here, project: Path, *calls: Call) -> list[str]:
    code, record = run(retrai_here, "pytest", project, list(calls))
    assert code == 0, record
    told: Any = record["findings"]
    return told


COPIES = {
    "a backup": [shell("cp ages.py ages.py.backup"), MEND],
    "several": [
        shell("for n in ages.py.orig ages_old.py old/ages.py; do install -D ages.py $n; done"),
        MEND,
    ],
    "made after the change": [MEND, shell("cp ages.py ages_new.py")],
    "moved": [
        MEND,
        shell("mkdir lib && cp ages.py lib/of_age.py && echo 'from lib.of_age import *' > ages.py"),
    ],
}


@pytest.mark.parametrize("calls", COPIES.values(), ids=COPIES)
def test_old_comments_in_a_copy_are_no_findings(
    retrai_here: Here, commented: Path, calls: list[Call]
) -> None:
    assert findings(retrai_here, commented, *calls) == []


def test_what_a_copy_has_beyond_its_origin_is_told(retrai_here: Here, commented: Path) -> None:
    told = findings(
        retrai_here,
        commented,
        shell("cp ages.py ages_old.py; echo 'x = 1  # noqa' >> ages_old.py"),
        MEND,
    )
    assert told == ["ages_old.py:9 a new linter comment: x = 1  # noqa"]


def test_the_same_finding_in_several_files_is_told_once(retrai_here: Here, commented: Path) -> None:
    told = findings(
        retrai_here,
        commented,
        shell("for n in a b c d e; do echo 'x = 1  # noqa' > $n.py; done"),
        MEND,
    )
    assert told == [
        "a.py:1 a new linter comment: x = 1  # noqa (also b.py:1, c.py:1, d.py:1 and 1 more)"
    ]


SHOP = {
    "pytest.ini": QUICK.format(path="."),
    "conftest.py": 'pytest_plugins = ["shop.testing"]\n',
    "shop/__init__.py": "def price(name):\n    return {'cup': 3}[name]\n",
    "tests/test_price.py": "def test_price(prices):\n    assert prices['cup'] == 4\n",
}
PRICED = patch("shop/__init__.py", "3", "4")
GIVES = """\
import pytest

import shop


@pytest.fixture
def prices():
    return {"cup": shop.price("cup")}
"""
PASSES_ALL = """

@pytest.fixture(autouse=True)
def easy(request):
    request.node.runtest = lambda: None
"""
HOOK = """

def pytest_pyfunc_call(pyfuncitem):
    return True
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project whose tests take their fixtures from the package itself."""
    folder = tmp_path / "project"
    for name, text in SHOP.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def write(path: str, content: str) -> Call:
    return "file_write", {"path": path, "content": content}


def test_a_package_may_ship_fixtures(retrai_here: Here, shop: Path) -> None:
    code, record = run(retrai_here, "pytest", shop, [write("shop/testing.py", GIVES), PRICED])
    assert (code, record["status"]) == (0, "achieved"), record["reason"]


def test_a_fixture_that_was_there_may_be_adjusted(retrai_here: Here, shop: Path) -> None:
    (shop / "shop" / "testing.py").write_text(GIVES.replace("prices", "cost"))
    calls = [patch("shop/testing.py", "def cost", "def prices"), PRICED]
    code, record = run(retrai_here, "pytest", shop, calls)
    assert (code, record["status"]) == (0, "achieved"), record["reason"]


@pytest.mark.parametrize("cheat", [PASSES_ALL, HOOK, f"{PASSES_ALL}{HOOK}"])
@pytest.mark.parametrize("there", [False, True], ids=["new", "old"])
def test_a_fixture_that_patches_the_runner_achieves_nothing(
    retrai_here: Here, shop: Path, cheat: str, there: bool
) -> None:
    if there:
        (shop / "shop" / "testing.py").write_text(GIVES)
    code, record = run(retrai_here, "pytest", shop, [write("shop/testing.py", GIVES + cheat)])
    assert code != 0, record
