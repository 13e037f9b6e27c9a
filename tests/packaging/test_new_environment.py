"""retrai-server, -tui, -watch and -react, installed from wheels in a new environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from ..react.wire import KEY, ModelServer, model_server
from .conftest import ALL, RETRAI
from .test_wheels import needed, new_environment, wheel

__all__ = ["wheel"]

pytestmark = pytest.mark.xdist_group("wheels")
INSTALLED = ("retrai-server", "retrai-tui", "retrai-watch", "retrai-react")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, wheel: Callable[..., Path]) -> Path:
    """The folder of an environment with what these need, and nothing else."""
    found = needed(INSTALLED)
    own = {dist.name: dist for dist in (*ALL, RETRAI)}
    assert "retrai" in found, "the script `retrai` would be missing"
    third_party = [dist for name, dist in found.items() if name not in own]
    folder = tmp_path_factory.mktemp("new") / "env"
    wheels = [wheel(own[name]) for name in found if name in own]
    python = new_environment(folder, wheels, third_party)
    script = folder / "bin" / "retrai"  # as an installer writes it
    script.write_text(
        f"#!{python}\nimport sys\nfrom retrai_core.cli.main import main\nsys.exit(main())\n"
    )
    script.chmod(0o755)
    return folder


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model server, to be asked with a caller's key."""
    with model_server() as server:
        yield server


@pytest.fixture
def variables(tmp_path: Path, model: ModelServer) -> dict[str, str]:
    """Of somebody who has just installed it: no settings, no key, and a browser that is a file."""
    keep = ("PATH", "LANG", "TMPDIR")
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    return {
        **{name: os.environ[name] for name in keep if name in os.environ},
        "HOME": str(tmp_path),
        "BROWSER": f"{browser} %s",
        "OPENAI_API_BASE": model.url,
    }


@pytest.fixture
def address(environment: Path, variables: dict[str, str], tmp_path: Path) -> Iterator[str]:
    """What `retrai serve --open` opens in the browser."""
    folder = tmp_path / "src"
    folder.mkdir()
    serving = subprocess.Popen(
        [environment / "bin" / "retrai", "serve", "--open", "-p", "0"],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert serving.stdout is not None
    try:
        said = [serving.stdout.readline().strip() for _ in range(2)]
        assert f"retrai serves {folder}" in said[0]
        yield said[1]
        assert (tmp_path / "opened").read_text().strip() == said[1]
    finally:
        serving.terminate()
        serving.wait(60)
        serving.stdout.close()
    assert serving.returncode == 0


def test_a_person_with_no_key_runs_the_demo_in_the_page(address: str) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    expect = sync_api.expect
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(90_000)
        page.goto(address)
        page.get_by_role("button", name="Run the demo").click()
        badge = page.locator(".run-head .badge")
        expect(badge).to_have_text("achieved", timeout=400_000)
        browser.close()


def test_a_step_is_served(address: str, model: ModelServer, tmp_path: Path) -> None:
    model.plays('Thought: look\nAction: read_file(path="a.py")')
    parts = urlsplit(address)
    with httpx.Client(
        base_url=f"{parts.scheme}://{parts.netloc}",
        headers={"Authorization": f"Bearer {parse_qs(parts.query)['token'][0]}"},
        timeout=300,
    ) as client:
        project = client.post("/api/projects", json={"path": str(tmp_path / "src")}).json()
        request = {
            "project_id": project["id"],
            "session_id": str(uuid.uuid4()),
            "user_query": "What does it do?",
            "conversation_history": [],
            "available_tools_prompt_segment": "read_file(path): the text of a file",
            "llm_config": {
                "modelName": "openai/gpt-4o",
                "tokenLimit": 8000,
                "reservedOutputTokens": 500,
            },
            "user_api_keys": {"llmKey": KEY},
            "max_iterations_left": 3,
        }
        step = client.post("/api/agent/react_step", json=request).json()
    assert step["action_details"]["tool_args"] == {"path": "a.py"}, step
    assert [each.key for each in model.requests] == [KEY]


@pytest.mark.parametrize("command", ["tui", "watch"])
def test_the_other_commands_are_there(
    environment: Path, variables: dict[str, str], tmp_path: Path, command: str
) -> None:
    done = subprocess.run(
        [environment / "bin" / "retrai", command, "--help"],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"Usage: retrai {command}" in done.stdout
