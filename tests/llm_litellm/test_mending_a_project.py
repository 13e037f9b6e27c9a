"""Whole runs: a model behind a server fixes a project; others never wait for LiteLLM."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("retrai_goals_python", reason="the pytest goal is not installed")
pytest.importorskip("retrai_tools_code", reason="the code tools are not installed")

HEAVY = {"litellm", "langchain_litellm", "openai", "mcp"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One comparison is off by one, and a test says so."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (folder / "ages.py").write_text("def of_age(age):\n    return age > 18\n")
    (folder / "test_ages.py").write_text(
        "from ages import of_age\n\n"
        "def test_eighteen_is_of_age():\n    assert of_age(18)\n\n"
        "def test_seventeen_is_not():\n    assert not of_age(17)\n"
    )
    return folder


@pytest.fixture
def run(tmp_path: Path, project: Path):
    """Do a run in its own process: its exit code, its record, the heavy modules it imported."""
    code = (
        "import sys\n"
        "from retrai_core.cli.main import main\n"
        "try:\n"
        "    sys.exit(main())\n"
        "finally:\n"
        f"    print('imported', *sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    dropped = ("_API_KEY", "_AUTH_TOKEN", "_API_BASE", "_BASE_URL")
    env = {name: value for name, value in os.environ.items() if not name.endswith(dropped)}
    env |= {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path), "NO_COLOR": "1"}

    def start(model: str, **extra: str) -> tuple[int, dict, set[str], str]:
        command = [sys.executable, "-c", code, "run", "pytest", "--json", "-n", "5", "-m", model]
        done = subprocess.run(
            command,
            cwd=project,
            env={**env, **extra},
            capture_output=True,
            check=False,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        imported = next(
            (line for line in done.stderr.splitlines() if line.startswith("imported")), "imported"
        )
        record = json.loads(done.stdout) if done.stdout.strip() else {}
        return done.returncode, record, set(imported.split()[1:]), done.stderr

    return start


def test_a_model_behind_a_server_mends_a_project(aimock, run, project, tmp_path, key) -> None:
    code, record, _, errors = run(
        "openai/gpt-4.1-nano", OPENAI_API_BASE=f"{aimock.url}/v1", OPENAI_API_KEY=key
    )
    assert code == 0, errors
    assert record["status"] == "achieved"
    assert record["changed_files"] == ["ages.py"]
    assert "age >= 18" in (project / "ages.py").read_text()
    assert record["tokens"]["input"] == 2000
    assert record["cost_usd"] == pytest.approx(2000 * 1e-7 + 40 * 4e-7)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in written if key.encode() in path.read_bytes()]
    assert key not in errors


def test_a_missing_key_is_said_before_anything_is_imported(run) -> None:
    code, _, imported, errors = run("openai/gpt-4.1-nano")
    assert code == 2
    assert "OPENAI_API_KEY is not set" in errors
    assert "offline" in errors
    assert not imported


def test_the_offline_model_needs_no_client_library(run) -> None:
    pytest.importorskip("retrai_llm_offline", reason="the offline provider is not installed")
    code, record, imported, errors = run("offline")
    assert code == 0, errors
    assert record["status"] == "achieved"
    assert not imported


def test_a_replayed_run_needs_no_client_library(run, tmp_path) -> None:
    pytest.importorskip("retrai_llm_replay", reason="the replay provider is not installed")
    call = {"id": "c1", "name": "file_patch"}
    arguments = {"path": "ages.py", "old": "age > 18", "new": "age >= 18"}
    payload = {"model": "m", "text": "", "tool_calls": [{**call, "args": arguments}]}
    event = {"kind": "llm_usage", "run_id": "r", "iteration": 0, "ts": 1.0, "payload": payload}
    log = tmp_path / "events.jsonl"
    log.write_text(json.dumps(event) + "\n")
    code, record, imported, errors = run(f"replay:{log}")
    assert code == 0, errors
    assert record["status"] == "achieved"
    assert not imported
