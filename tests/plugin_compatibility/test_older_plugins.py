"""A plugin distribution that was built for the contract of 0.1 works with this core.

`wheel/` is that distribution, unpacked as an installer does it, so that its files can be read; it
was built with hatchling from the sources that it holds, and is never brought up to date.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from retrai_core.contracts.hooks import HookSpecs
from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.kinds import KINDS

WHEEL = Path(__file__).parent / "wheel"
INFO = WHEEL / "retrai_zero_one-0.1.0.dist-info"
OF_0_1 = set(KINDS) - {"store", "engine", "hookspec"}  # of which 0.1 has no plugin to begin with
SETTINGS = """
goal: zero-goal
model: zero-model
agent: zero-agent
memory: zero-memory
sandbox: zero-sandbox
tools: [zero_tool]
"""


@pytest.fixture
def retrai(tmp_path: Path):
    """Runs a command in an empty project, with the old distribution installed."""
    (tmp_path / "project").mkdir()
    kept = {name: text for name, text in os.environ.items() if not name.startswith("RETRAI_")}
    env = kept | {
        "PYTHONPATH": str(WHEEL),
        "PYTHONDONTWRITEBYTECODE": "1",
        "RETRAI_TRUST": "1",
        "RETRAI_STATE_DIR": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "retrai_core", *args],
            cwd=tmp_path / "project",
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )

    run.project = tmp_path / "project"
    return run


def test_it_is_still_as_it_was_built() -> None:
    listed = list(csv.reader((INFO / "RECORD").read_text().splitlines()))
    for name, digest, size in listed:
        if digest:
            data = (WHEEL / name).read_bytes()
            seen = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={seen}", str(len(data))), name
    files = {path.relative_to(WHEEL).as_posix() for path in WHEEL.rglob("*") if path.is_file()}
    assert {name for name in files if "__pycache__" not in name} == {name for name, *_ in listed}


def test_its_hooks_name_fewer_arguments_than_there_are() -> None:
    source = (WHEEL / "retrai_zero_one" / "__init__.py").read_text()
    assert "def system_prompt(self, goal):" in source
    assert "def before_tool(self, call):" in source
    now = HookSpecs.before_tool.__code__
    assert now.co_varnames[1 : now.co_argcount][:2] == ("call", "context"), (
        "arguments are only ever added, at the end"
    )


def test_a_plugin_of_every_kind_loads(retrai) -> None:
    done = retrai("plugins", "list", "--json")
    ours = [p for p in json.loads(done.stdout)["plugins"] if p["dist"] == "retrai-zero-one"]
    assert {entry["kind"] for entry in ours} == OF_0_1
    assert {entry["status"] for entry in ours} == {"unloaded"}
    catalog = Catalog.scan(paths=[str(WHEEL)], environ={})
    assert {record.kind for record in catalog.records()} == OF_0_1


def test_a_run_comes_to_its_end_with_all_of_them(retrai) -> None:
    (retrai.project / ".retrai.yml").write_text(SETTINGS)
    done = retrai("run", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["status"] == "achieved"
    assert record["iterations"] == 2, "the gate denied the first word, the second one was right"
    assert (retrai.project / "zero.txt").read_text() == "zero"
    shown = retrai("plugins", "list", "--load", "--json", "--kind", "hook")
    (hooks,) = [p for p in json.loads(shown.stdout)["plugins"] if p["name"] == "zero-hooks"]
    assert (hooks["status"], hooks["error"]) == ("ok", "")


def test_its_command_is_one_of_retrai_s(retrai) -> None:
    assert "say zero" in retrai("--help").stdout
    assert retrai("zero-frontend").stdout == "zero\n"
