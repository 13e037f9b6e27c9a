"""What other programs read (`--json`, `run.json`, `receipt.json`) is what the schemas say."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

from retrai_core import FilesStore, RunConfig, RunManager, RunRecord, RunRequest
from retrai_core.cli.main import main
from retrai_core.contracts.record import EXIT_CODES

ROOT = Path(__file__).parents[2]
SITE = ROOT / "tests" / "core" / "goal_loop" / "site"


def call(name: str, **args: Any) -> dict[str, Any]:
    """One turn that calls one tool."""
    return {"text": f"calling {name}", "calls": [{"name": name, "args": args}]}


MEND = call("put", path="a.txt", text="right\n")
LOOK = [call("look", path=f"missing{i}.txt") for i in range(9)]
ASKED = {"question": "What does it say?"}
RUNS: dict[str, dict[str, Any]] = {
    "achieved": {"turns": [MEND]},
    "answered": {"turns": [{"text": "It says wrong."}], "agent": "talk", "input": ASKED},
    "failed": {"turns": LOOK, "max_iterations": 1},
    "aborted": {"turns": LOOK, "hitl_enabled": True},
    "tampered": {"turns": [MEND], "options": {"suspicious": "right"}},
    "stuck": {"turns": [LOOK[0]], "max_iterations": 20},
    "budget": {"turns": LOOK, "max_tokens": 0},
    "flaky": {"turns": [MEND], "options": {"flaky_checks": [3]}},
    "error": {"turns": [{"error": "the key is wrong", "fatal": True}]},
    "interrupted": {"turns": [call("hang")], "tools": ["hang"]},
}
"""A run for each outcome."""


@pytest.fixture(scope="module")
def rendering() -> ModuleType:
    """docs/render_schema.py."""
    spec = spec_from_file_location("render_schema", ROOT / "docs" / "render_schema.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project for the core's scripted goal, with one file that is wrong."""
    monkeypatch.syspath_prepend(str(SITE))
    monkeypatch.setenv("RETRAI_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("RETRAI_TRUST", "1")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "expected.txt").write_text("a.txt: right\nb.txt: fine\n")
    (folder / "a.txt").write_text("wrong\n")
    (folder / "b.txt").write_text("fine\n")
    return folder


def schema(name: str) -> dict[str, Any]:
    """A committed schema."""
    return json.loads((ROOT / "docs" / name).read_text(encoding="utf-8"))


def check(instance: Any, name: str) -> None:
    """Hold `instance` against a committed schema."""
    said = schema(name)
    jsonschema.Draft202012Validator.check_schema(said)
    jsonschema.Draft202012Validator(said).validate(instance)


async def ended(project: Path, turns: list[dict[str, Any]], **settings: Any) -> RunRecord:
    """A run that ends by itself, is ended by the answer "no", or is stopped when it hangs."""
    config = RunConfig(
        cwd=project,
        model="turns",
        python=sys.executable,
        memory="none",
        sandbox="local",
        plugins={"turns": {"turns": turns}},
        **settings,
    )
    async with RunManager(FilesStore(), "inline") as manager:
        run = await manager.submit(RunRequest(config=config))
        async for event in run.events():
            if event.kind == "tool_call" and event.payload["tool"] == "hang":
                await run.cancel("interrupted")
            elif event.kind == "human_check_required":
                await run.answer(event.payload["question"]["id"], "no")
        return await run.result()


def test_the_schemas_are_up_to_date_and_describe_every_field(rendering: ModuleType) -> None:
    for name, models in rendering.SCHEMAS.items():
        written = (ROOT / "docs" / name).read_text(encoding="utf-8")
        assert written == rendering.render(models), "run: python docs/render_schema.py"
        parts = [json.loads(written), *json.loads(written)["$defs"].values()]
        for part in parts:
            for field, about in part["properties"].items():
                assert about.get("description"), f"{name}: {field} says nothing of itself"


def test_there_is_a_run_for_every_outcome() -> None:
    assert set(RUNS) == set(EXIT_CODES)


@pytest.mark.parametrize("outcome", RUNS)
async def test_every_outcome_is_printed_as_the_schema_says_with_a_reason_and_what_to_do(
    project: Path, capsys: pytest.CaptureFixture[str], outcome: str
) -> None:
    record = await ended(project, **RUNS[outcome])
    assert await asyncio.to_thread(main, ["runs", "show", record.id, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    check(said, "run-record.schema.json")
    assert (said["status"], said["exit_code"]) == (outcome, EXIT_CODES[outcome])
    for line in ("reason", "next_step"):
        # An answer that changed nothing leaves nothing to do.
        assert said[line].strip() or (outcome, line) == ("answered", "next_step"), outcome
        assert "\n" not in said[line]
    assert json.loads((FilesStore().folder(record.id) / "run.json").read_text()) == said
    assert said["artifacts"] == (["receipt.json"] if outcome == "achieved" else [])
    if said["artifacts"]:
        receipt = FilesStore().folder(record.id) / "artifacts" / "receipt.json"
        check(json.loads(receipt.read_text())["receipt"], "receipt.schema.json")


def test_run_json_prints_the_same_form(
    project: Path, capsys: pytest.CaptureFixture[str], retrai_yml: Callable[[], None]
) -> None:
    retrai_yml()
    assert main(["run", "-C", str(project), "-m", "turns", "--json"]) == 0
    check(json.loads(capsys.readouterr().out), "run-record.schema.json")


@pytest.fixture
def retrai_yml(project: Path) -> Callable[[], None]:
    """Writes a configuration with one turn that fixes the project."""

    def write() -> None:
        settings = {"plugins": {"turns": {"turns": [MEND]}}, "memory": "none", "sandbox": "local"}
        # JSON is YAML.
        (project / ".retrai.yml").write_text(json.dumps(settings))

    return write


def test_a_record_with_a_field_of_another_kind_is_refused_by_the_schema() -> None:
    record = RunRecord(id="r", model="m", project=Path("/p")).model_dump(mode="json")
    check(record, "run-record.schema.json")
    for wrong in ({"status": "done"}, {"exit_code": "0"}, {"refused": "none"}):
        with pytest.raises(jsonschema.ValidationError):
            check(record | wrong, "run-record.schema.json")
    del record["reason"]
    with pytest.raises(jsonschema.ValidationError):
        check(record, "run-record.schema.json")
