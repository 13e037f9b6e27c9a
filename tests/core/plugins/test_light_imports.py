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
)
KINDS = ("goals", "tools", "llms", "memory", "frontends", "agents", "sandboxes", "hooks")
REPORT = """
import atexit, runpy, sys
atexit.register(lambda: print("MODULES", *sorted(sys.modules), file=sys.stderr))
sys.argv = ["retrai", *sys.argv[1:]]
runpy.run_module("retrai_core", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("arguments", LIGHT_COMMANDS, ids=" ".join)
def test_a_light_command_imports_nothing_heavy_and_no_plugin(
    site: Any, child_environment: Mapping[str, str], tmp_path: Path, arguments: list[str]
) -> None:
    installed = {"acme"}
    for kind in KINDS:
        name = "acme" if kind == "goals" else f"acme-{kind}"
        package = name.replace("-", "_")
        installed.add(package)
        site.install(
            name,
            entry_points=f"[retrai.{kind}]\n{name} = {package}.plugin:Plugin\n",
            code="raise SystemExit('imported')",
            manifest=f'schema = 1\n[{kind}.{name}]\nsummary = "about {name}"\n',
        )
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
    imported = set(modules.split())
    assert "retrai_core.cli.main" in imported
    assert not imported & set(HEAVY)
    assert not imported & installed
    plugins = {name for name in imported if name.startswith("retrai_")} - {"retrai_core"}
    assert not {name for name in plugins if not name.startswith("retrai_core.")}
