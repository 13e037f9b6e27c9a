"""docs/plugins/names.md: an author of each kind needs at most 15 of `retrai_core`'s names, which is
shown by what they begin with: the templates, the examples of the pages and the programs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import types
from pathlib import Path
from string import Template

import pytest

import retrai_core

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "plugins"
TEMPLATES = ROOT / "plugins" / "retrai_plugin_dev" / "src" / "retrai_plugin_dev" / "templates"
EXAMPLES = ROOT / "examples"
AUTHORS = ("goal", "tool", "llm", "agent", "frontend", "store")
PROGRAMS = {
    "agent": sorted(EXAMPLES.glob("agents/src/**/*.py")),
    "frontend": [
        EXAMPLES / "frontends" / name for name in ("http_frontend.py", "editor_session.py")
    ],
    "store": [EXAMPLES / "frontends" / "memory_store.py"],
}
MOST = 15


def names_for(kind: str) -> list[str]:
    """The names in the row that links the kind's page."""
    text = (PAGES / "names.md").read_text(encoding="utf-8")
    (cells,) = re.findall(rf"^\| \[[^\]]+\]\({kind}\.md\) \| (.*) \|$", text, re.MULTILINE)
    return re.findall(r"`(\w+)`", cells)


def imported(source: str) -> set[str]:
    """What of retrai's core a program imports; a module of it by its whole name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
            found |= {name for name in names if name.partition(".")[0] == "retrai_core"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("retrai_core"):
            public = node.module == "retrai_core"
            found |= {name.name if public else f"{node.module}" for name in node.names}
    return found


def example_of(kind: str) -> str:
    """The first example of the kind's page; the program where the page's builds on another."""
    if kind == "store":
        return PROGRAMS[kind][0].read_text(encoding="utf-8")
    text = (PAGES / f"{kind}.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[0]


@pytest.mark.parametrize("kind", AUTHORS)
def test_an_author_needs_few_names_all_of_them_public(kind: str) -> None:
    names = names_for(kind)
    assert len(names) == len(set(names)) <= MOST
    assert set(names) <= set(retrai_core.__all__)
    for name in names:
        assert getattr(retrai_core, name) is not None


@pytest.mark.parametrize("kind", AUTHORS)
def test_what_an_author_begins_with_uses_only_these(kind: str) -> None:
    sources = {f"the example of {kind}": example_of(kind)}
    for path in (TEMPLATES / kind).glob("src/**/*.py.tmpl"):
        words = dict.fromkeys(Template(path.read_text()).get_identifiers(), "x")
        sources[path.name] = Template(path.read_text()).substitute(words)
    for path in PROGRAMS.get(kind, []):
        sources[path.name] = path.read_text(encoding="utf-8")
    for name, source in sources.items():
        assert imported(source) <= set(names_for(kind)), name
    assert any(imported(source) for source in sources.values())


@pytest.mark.parametrize("kind", [kind for kind in AUTHORS if kind != "store"])
def test_the_example_of_the_page_runs(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RETRAI_STATE_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    module = types.ModuleType(f"an_example_of_{kind}")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # for annotations
    exec(compile(example_of(kind), f"{kind}.md", "exec"), vars(module))


def test_the_example_of_a_store_runs() -> None:
    command = [sys.executable, str(PROGRAMS["store"][0])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "refused: the first worker does not hold run run1 any more" in done.stdout


def test_a_private_module_is_noticed() -> None:
    source = "from retrai_core.session import manager\nfrom retrai_core import Tool\nimport ast\n"
    assert imported(source) == {"retrai_core.session", "Tool"}
