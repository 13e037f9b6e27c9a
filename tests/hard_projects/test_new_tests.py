"""Where the user lets a run change tests, some of them must fail on the sources as they were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MakeProject = Callable[..., Path]
SOURCE = "def add(a, b):\n    return a - b\n"
TEST = "from adding import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
MEND = ("bash_exec", {"command": "sed -i 's/a - b/a + b/' adding.py"})
NEW = "from adding import add\n\n\ndef test_{name}():\n    assert {what}\n"


def write(name: str, what: str) -> tuple[str, dict[str, str]]:
    path = f"tests/test_{name}.py"
    return ("file_write", {"path": path, "content": NEW.format(name=name, what=what)})


def copies_of_the_runner(retrai: Any, ended: Any) -> int:
    """How many files of pytest and its plugins the run has left beside its record."""
    folder = next(retrai.room.rglob(f"runs/{ended.record['id']}"))
    assert (folder / "baseline/environment/index.json").is_file()
    return sum(len(path.name) == 64 for path in (folder / "baseline/environment").iterdir())


@pytest.fixture
def retrai(retrai: Any, retrai_here: Callable[..., Any]) -> Any:
    """The runs are in this process; none of these tests is about the process itself."""
    retrai.here = retrai_here
    return retrai


@pytest.fixture
def project(make_project: MakeProject) -> Path:
    """A project with a wrong function, the tests of which the run may change."""
    files = {"adding.py": SOURCE, "tests/test_add.py": TEST, "tests/__init__.py": ""}
    allow = {".retrai.yml": "allow_edit: [tests/]\n"}
    ini = {"pytest.ini": "[pytest]\naddopts = -p no:cacheprovider\npythonpath = .\n"}
    return make_project({**files, **allow, **ini})


def test_a_new_test_that_always_passes_proves_nothing(retrai: Any, project: Path) -> None:
    ended = retrai.run(project, MEND, write("idle", "add(0, 0) == 0"), MEND)
    assert ended.outcome == (0, "achieved"), "fixed before any test was added"
    assert copies_of_the_runner(retrai, ended) == 0, "nobody goes on with it"
    together = (
        "bash_exec",
        {"command": "sed -i 's/a - b/a + b/' adding.py; cp new.txt tests/test_new.py"},
    )
    (project / "adding.py").write_text(SOURCE)
    (project / "new.txt").write_text(NEW.format(name="new", what="add(0, 0) == 0"))
    ended = retrai.run(project, together, MEND)
    assert ended.outcome == (1, "failed")
    assert (
        "none of the new or changed tests fails on the sources as they were"
        in ended.record["reason"]
    )
    assert "tests/test_new.py::test_new" in ended.record["reason"]
    assert copies_of_the_runner(retrai, ended) > 100


def test_a_new_test_that_fails_without_the_change_is_a_proof(retrai: Any, project: Path) -> None:
    (project / "new.txt").write_text(NEW.format(name="new", what="add(1, 1) == 2"))
    (project / "idle.txt").write_text(NEW.format(name="idle", what="add(0, 0) == 0"))
    line = (
        "sed -i 's/a - b/a + b/' adding.py; for n in new idle; do cp $n.txt tests/test_$n.py; done"
    )
    ended = retrai.run(project, ("bash_exec", {"command": line}))
    assert ended.outcome == (0, "achieved")
    told = "new or changed tests that pass on the sources as they were too: tests/test_idle.py"
    assert any(told in finding for finding in ended.record["findings"])


def test_a_test_that_was_changed_to_what_the_sources_do_proves_nothing(
    retrai: Any, project: Path
) -> None:
    line = "sed -i 's/== 5/== -1/' tests/test_add.py; echo '# done' >> adding.py"
    ended = retrai.run(project, ("bash_exec", {"command": line}))
    assert ended.outcome == (1, "failed")
    assert "tests/test_add.py::test_add" in ended.record["reason"]
    assert ended.record["allowed_edits"] == ["tests/test_add.py: allow_edit"]


def test_tests_alone_may_be_written_for_sources_that_stay(retrai: Any, project: Path) -> None:
    line = "sed -i 's/== 5/== -1/' tests/test_add.py"
    ended = retrai.run(project, ("bash_exec", {"command": line}))
    assert ended.outcome == (0, "achieved")
    assert ended.record["allowed_edits"] == ["tests/test_add.py: allow_edit"]


def test_a_source_with_examples_is_undone_like_any_other(
    retrai: Any, make_project: MakeProject
) -> None:
    source = 'def add(a, b):\n    """\n    >>> add(2, 3)\n    5\n    """\n    return a - b\n'
    ini = "[pytest]\naddopts = -p no:cacheprovider --doctest-modules\n"
    project = make_project({"adding.py": source, "pytest.ini": ini})
    ended = retrai.run(project, MEND)
    assert ended.outcome == (0, "achieved")
    assert all(each.startswith("behaviour: add(") for each in ended.record["findings"])
