"""`retrai plugins new`: what it takes, and that it writes all or nothing."""

from __future__ import annotations

import keyword
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrai_core
from retrai_core import UsageError
from retrai_core.plugins.manifest import parse_manifest
from retrai_plugin_dev.new_distribution import new_distribution
from retrai_plugin_dev.template_fields import WITH_TEMPLATE


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_writes_a_folder_named_after_the_distribution(retrai, tmp_path: Path) -> None:
    code, out, _ = retrai("plugins", "new", "tool", "line_count")
    assert code == 0
    assert names_in(tmp_path) == ["retrai-line-count"]
    assert "pip install -e '.[dev]' && pytest" in out
    wanted = {".github", ".gitignore", "LICENSE", "README.md", "pyproject.toml", "src", "tests"}
    assert set(names_in(tmp_path / "retrai-line-count")) == wanted
    package = tmp_path / "retrai-line-count" / "src" / "retrai_line_count"
    assert names_in(package) == ["__init__.py", "py.typed", "retrai.toml", "tool.py"]


def test_the_distribution_may_have_a_name_of_its_own(retrai, tmp_path: Path) -> None:
    code, out, _ = retrai("plugins", "new", "goal", "tidy", "--dist", "acme-checks")
    assert (code, names_in(tmp_path)) == (0, ["acme-checks"])
    assert "cd acme-checks" in out
    project = tomllib.loads((tmp_path / "acme-checks" / "pyproject.toml").read_text())["project"]
    assert project["name"] == "acme-checks"
    assert project["entry-points"]["retrai.goals"] == {"tidy": "acme_checks.goal:TidyGoal"}
    code, _, err = retrai("plugins", "new", "goal", "tidy", "--dist", "Acme Checks")
    assert (code, "cannot be a distribution's name" in err) == (2, True)


def test_an_empty_folder_may_be_there_already(retrai, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert retrai("plugins", "new", "hook", "watcher", "--dir", "mine")[0] == 0
    assert "pyproject.toml" in names_in(tmp_path / "mine")


def test_the_author_stands_in_the_metadata_and_the_licence(retrai, tmp_path: Path) -> None:
    code, *_ = retrai("plugins", "new", "goal", "x", "--author", 'Zoë "Z" Ng <z@example.org>')
    assert code == 0
    project = tomllib.loads((tmp_path / "retrai-x" / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["authors"] == [{"name": 'Zoë "Z" Ng', "email": "z@example.org"}]
    assert 'Zoë "Z" Ng' in (tmp_path / "retrai-x" / "LICENSE").read_text("utf-8")


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("gaol", "x", "did you mean goal?"),
        ("", "x", "kinds: goal, tool"),
        ("engine", "x", "no template for a plugin of the kind engine"),
        ("goal", "", "cannot be a plugin's name"),
        ("goal", "Upper", "cannot be a plugin's name"),
        ("goal", "two words", "cannot be a plugin's name"),
        ("goal", "../up", "cannot be a plugin's name"),
        ("goal", "a--b", "cannot be a plugin's name"),
        ("goal", "9lives", "cannot be a plugin's name"),
        ("goal", "ünder", "cannot be a plugin's name"),
        ("goal", "x\n", "cannot be a plugin's name"),
        ("goal", "x" * 31, "cannot be a plugin's name"),
        ("goal", "core", "retrai-core is installed already"),
        ("frontend", "run", "cannot be a new command's name"),
        ("frontend", "run_count", "cannot be a new command's name"),
    ],
)
def test_what_cannot_be_made_is_one_line_and_nothing_is_written(
    retrai, tmp_path: Path, kind: str, name: str, said: str
) -> None:
    code, out, err = retrai("plugins", "new", kind, name)
    assert code == 2
    assert out == ""
    assert said in err
    assert len(err.strip().splitlines()) == 2, "one error and one hint"
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("author", ["<a@b.org>", "A <a>", "A\nB", "A <a@b.org> C"])
def test_an_author_that_is_none_is_refused(retrai, tmp_path: Path, author: str) -> None:
    code, _, err = retrai("plugins", "new", "goal", "x", "--author", author)
    assert (code, names_in(tmp_path)) == (2, [])
    assert "is no author" in err


def test_a_folder_with_something_in_it_is_left_alone(retrai, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine")
    code, _, err = retrai("plugins", "new", "goal", "x", "--dir", "mine")
    assert code == 2
    assert "mine is not an empty folder" in err
    assert names_in(mine) == ["notes.txt"]


@pytest.mark.parametrize("where", ["a-file", "a-file/below"])
def test_where_nothing_can_be_written_nothing_is(retrai, tmp_path: Path, where: str) -> None:
    (tmp_path / "a-file").write_text("mine")
    code, _, err = retrai("plugins", "new", "goal", "x", "--dir", where)
    assert code == 2
    assert where in err
    assert (tmp_path / "a-file").read_text() == "mine"
    assert names_in(tmp_path) == ["a-file"]


def test_a_write_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    made = new_distribution("goal", "x")
    blocked = replace(made, files={**made.files, "README.md/below": "x"})
    for folder in (tmp_path / "new", tmp_path / "empty"):
        if folder.name == "empty":
            folder.mkdir()
        with pytest.raises(UsageError, match="cannot be written"):
            blocked.write(folder)
    assert names_in(tmp_path) == ["empty"]
    assert names_in(tmp_path / "empty") == []


def test_a_name_that_is_taken_is_told(retrai) -> None:
    code, out, _ = retrai("plugins", "new", "agent", "goal-loop")
    assert code == 0
    assert "retrai-core has the agent goal-loop too" in out
    assert "goal-loop@retrai-goal-loop" in out
    assert "too" not in retrai("plugins", "new", "agent", "another")[1]


def test_it_imports_no_plugin(tmp_path: Path) -> None:
    code = (
        "import sys; from retrai_core.cli.main import main; main(['plugins', 'new', 'llm', 'x']);"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {name for name in loaded if name.startswith("retrai_")} == {
        "retrai_core",
        "retrai_plugin_dev",
    }
    assert not loaded & {"langchain_core", "langgraph"}


words = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
names = st.builds("{}{}{}".format, words, st.sampled_from(["-", "_"]), words) | words
awkward = st.sampled_from(["goal", "tool", "local", "agent", "class", "a", "run-context", "llm"])


@settings(max_examples=60)
@given(kind=st.sampled_from(WITH_TEMPLATE), name=names | awkward)
def test_every_name_gives_sources_that_compile(kind: str, name: str) -> None:
    try:
        made = new_distribution(kind, name)
    except UsageError:
        return
    for path, text in made.files.items():
        assert "PACKAGE" not in path
        assert not re.search(r"\$\{?[a-z]", text.replace("${{ matrix.python }}", "")), path
        if path.endswith(".py"):
            compile(text, path, "exec")
    project = tomllib.loads(made.files["pyproject.toml"])["project"]
    ((group, points),) = project["entry-points"].items()
    ((key, value),) = points.items()
    module, _, class_name = value.partition(":")
    assert key == name
    assert class_name.isidentifier()
    assert not keyword.iskeyword(class_name)
    assert class_name not in retrai_core.__all__
    source = made.files[f"src/{module.replace('.', '/')}.py"]
    assert f"\nclass {class_name}" in source
    manifest = parse_manifest(made.files[f"src/{made.package}/retrai.toml"].encode(), "retrai.toml")
    assert list(manifest) == [(kind, name)]
    assert (
        group
        == f"retrai.{'memory' if kind == 'memory' else kind + ('es' if kind == 'sandbox' else 's')}"
    )


def test_the_shell_completes_the_kinds() -> None:
    from click.shell_completion import ShellComplete

    from retrai_core.cli.main import make_group

    shell = ShellComplete(make_group(), {}, "retrai", "_RETRAI_COMPLETE")
    offered = shell.get_completions(["plugins", "new"], "a")
    assert [item.value for item in offered] == ["agent"]
