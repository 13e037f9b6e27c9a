"""The commands people type most import nothing heavy, and no plugin."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

HEAVY = (
    "pydantic",
    "pydantic_core",
    "pydantic_settings",
    "langchain",
    "langchain_core",
    "langchain_litellm",
    "langgraph",
    "litellm",
    "openai",
    "stevedore",
    "importlib_metadata",
    "pluggy",
    "cryptography",
    "packaging",
    "rich",
    "tabulate",
    "yaml",
    "asyncio",
    "retrai_core.contracts",
)
LIGHT_COMMANDS = (
    ["--help"],
    ["--version"],
    ["plugins", "list"],
    ["plugins", "list", "--kind", "goal", "--json"],
    ["plugins", "show", "acme"],
    ["tools", "list"],
    ["completion", "fish"],
)
COMPLETED = (
    ("", "plugins"),
    ("run", "acme"),
    ("run -m", "acme:"),
    ("run --", "--locked"),
    ("init --goal", "acme"),
    ("runs", "resume"),
    ("runs prune --", "--keep"),
    ("config show --", "--json"),
    ("demo -m", "acme:"),
    ("plugins", "disable"),
    ("goals", "show"),
    ("goals show", "acme"),
    ("plugins show", "acme-tools"),
    ("plugins show --kind tool", "acme-tools"),
    ("plugins disable", "acme-llms"),
    ("plugins disable", "acme-hooks"),
    ("plugins list --", "--json"),
    ("completion", "zsh"),
    ("acme-fron", "acme-frontends"),
)
"""What stands before TAB, and one of the words that are offered."""
KINDS = ("goals", "tools", "llms", "memory", "frontends", "agents", "sandboxes", "hooks")
REPORT = """
import atexit, runpy, sys
atexit.register(lambda: print("MODULES", *sorted(sys.modules), file=sys.stderr))
sys.argv = ["retrai", *sys.argv[1:]]
runpy.run_module("retrai_core", run_name="__main__", alter_sys=True)
"""


TAB_REPORT = """
import atexit, sys
atexit.register(lambda: print("MODULES", *sorted(sys.modules), file=sys.stderr))
from retrai_core.cli.main import main
sys.exit(main())
"""


@pytest.fixture
def installed(site: Any) -> set[str]:
    """A plugin of each kind that ends the program when it is imported; their packages."""
    installed = {"acme"}
    for kind in KINDS:
        name = "acme" if kind == "goals" else f"acme-{kind}"
        package = name.replace("-", "_")
        installed.add(package)
        site.install(
            name,
            entry_points=f"[retrai.{kind}]\n{name} = {package}.plugin:Plugin\n",
            code="raise SystemExit('imported')",
            manifest=f'schema = 1\n[{kind}.{name}]\nsummary = "about {name}"\n'
            'model_patterns = ["acme:*"]\n',
        )
    return installed


@pytest.mark.parametrize("arguments", LIGHT_COMMANDS, ids=" ".join)
def test_a_light_command_imports_nothing_heavy_and_no_plugin(
    installed: set[str],
    child_environment: Mapping[str, str],
    tmp_path: Path,
    arguments: list[str],
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", REPORT, *arguments],
        env=child_environment,
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    said, _, modules = done.stderr.partition("MODULES ")
    assert (done.returncode, said) == (0, "")
    if arguments == ["--help"]:
        assert "about acme-frontends" in done.stdout
    check_imports(set(modules.split()), installed)


@pytest.mark.parametrize(("words", "offered"), COMPLETED, ids=[words for words, _ in COMPLETED])
def test_tab_imports_nothing_heavy_and_no_plugin(
    installed: set[str],
    child_environment: Mapping[str, str],
    tmp_path: Path,
    words: str,
    offered: str,
) -> None:
    behind_a_word = words.endswith("--") or words.startswith("acme")
    line = f"retrai {words}" if behind_a_word or not words else f"retrai {words} "
    done = subprocess.run(
        [sys.executable, "-c", TAB_REPORT],
        env={
            **child_environment,
            "_RETRAI_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split()) - (1 if behind_a_word else 0)),
        },
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    said, _, modules = done.stderr.partition("MODULES ")
    assert (done.returncode, said) == (0, "")
    assert offered in [text.partition(",")[2] for text in done.stdout.splitlines()]
    check_imports(set(modules.split()), installed)


def check_imports(imported: set[str], installed: set[str]) -> None:
    """Nothing heavy, no plugin, and no other distribution of retrai's."""
    assert "retrai_core.cli.main" in imported
    assert not imported & set(HEAVY)
    assert not imported & installed
    plugins = {name for name in imported if name.startswith("retrai_")} - {"retrai_core"}
    assert not {name for name in plugins if not name.startswith("retrai_core.")}


def test_a_run_can_be_wired_before_langchain_is_imported() -> None:
    # What a model needs is imported beside that: a provider's own process, say, is started first.
    code = (
        "import sys, retrai_core.cli.foreground, retrai_core.runs.session;"
        "print(*sorted({'langchain_core', 'langgraph'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
