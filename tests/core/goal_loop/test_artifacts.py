"""The hook `artifacts`: what plugins keep with a run when it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from retrai_core import Cancel, Claim, FilesStore, RunManager, RunRequest

from ..running import manager_for

MEND = {"calls": [{"name": "put", "args": {"path": "a.txt", "text": "right\n"}}]}


@pytest.fixture
def install(tmp_path: Path, runs: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Installs hook plugins: by name, the body of `artifacts(self, run, verdict)`."""

    monkeypatch.setenv("RETRAI_DISABLE_PLUGINS", "retrai-receipts")  # where it is installed

    def install(**bodies: str) -> None:
        info = tmp_path / "site" / "acme_reports-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-reports\nVersion: 1.0\n")
        module = f"acme_{tmp_path.name}".replace("-", "_")
        lines = "".join(f"{name} = {module}:{name.title()}\n" for name in bodies)
        (info / "entry_points.txt").write_text(f"[retrai.hooks]\n{lines}")
        source = "import json\nimport time\nfrom retrai_core import hookimpl\n"
        for name, body in bodies.items():
            source += dedent(f"""
                class {name.title()}:
                    @hookimpl
                    def artifacts(self, run, verdict):
                        {body}
                """)
        (tmp_path / "site" / f"{module}.py").write_text(source)
        monkeypatch.syspath_prepend(str(tmp_path / "site"))

    return install


async def artifact(runs: Any, record: Any, name: str) -> bytes | None:
    async with manager_for(runs.store) as manager:
        return await (await manager.get(record.id)).artifact(name)


REPORT = (
    'whole = {"run": run.run_id, "achieved": verdict.achieved, "cases": dict(verdict.cases)}; '
    'return {"report.json": json.dumps(whole | {"evidence": verdict.evidence}).encode()}'
)


async def test_a_plugin_keeps_a_file_with_an_achieved_run(runs: Any, install: Any) -> None:
    install(report=REPORT)
    record = await runs.run([MEND])
    assert (record.status, record.artifacts) == ("achieved", ["report.json"])
    report = json.loads(await artifact(runs, record, "report.json") or b"")
    assert (report["run"], report["achieved"]) == (record.id, True)
    assert set(report["cases"].values()) == {"passed"}
    evidence = report["evidence"]
    assert evidence["clean_copy"] == {"achieved": True, "passed": 1}
    assert evidence["record"]["id"] == record.id
    assert "a.txt" in evidence["tree"]["files"]
    assert evidence["sandbox"] == {"state_within_reach": True}
    assert {event["kind"] for event in evidence["events"]} >= {"goal_check", "tool_call"}
    kinds = [event.kind for event in runs.events(record)]
    assert kinds[-1] == "run_end"


async def test_a_failed_run_has_artifacts_too_but_no_clean_copy(runs: Any, install: Any) -> None:
    install(report=REPORT)
    record = await runs.run([{"text": "I do not know."}], max_iterations=1)
    assert record.status == "failed"
    report = json.loads(await artifact(runs, record, "report.json") or b"")
    assert (report["achieved"], "clean_copy" in report["evidence"]) == (False, False)
    assert report["evidence"]["baseline"]["cases"]


async def test_a_part_that_ends_before_its_first_check_has_no_artifacts(
    runs: Any, install: Any
) -> None:
    install(report=REPORT)
    record = await runs.run([], max_iterations=1)
    assert record.artifacts == ["report.json"]
    record = await runs.resume(record.id, max_iterations=2, max_time=0.001)
    assert (record.status, record.artifacts) == ("budget", [])


async def test_a_tree_that_cannot_be_looked_at_in_the_end_costs_only_the_artifacts(
    runs: Any, install: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(self: Any) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr("retrai_core.verification.verifier.Verifier.look", fail)
    install(report=REPORT)
    meddle = {"name": "meddle", "args": {"path": "expected.txt", "text": "a.txt: wrong\n"}}
    hang = {"name": "hang", "args": {}}
    stopped = await runs.stopped_at("hang", [{"calls": [meddle, hang]}], tools=["meddle", "hang"])
    assert (stopped.status, stopped.artifacts) == ("interrupted", [])
    assert stopped.refused
    warnings = [event.payload.get("message") for event in runs.events(stopped, "log")]
    assert "no artifacts: OSError: the disk is gone" in warnings


async def test_a_plugin_that_fails_costs_only_its_own_files(runs: Any, install: Any) -> None:
    install(
        broken="raise ValueError('no printer')",
        wrong="return {'page.txt': 'text'}",
        spelt="return {'a/b': b''}",
        report="return {'report.txt': b'fine'}",
        twice="return {'report.txt': b'mine'}",
    )
    record = await runs.run([MEND])
    assert (record.status, record.artifacts) == ("achieved", ["report.txt"])
    assert await artifact(runs, record, "report.txt") == b"fine"
    warnings = [event.payload["message"] for event in runs.events(record, "log")]
    nothing = [line for line in warnings if "keeps nothing with the run" in line]
    assert len(nothing) == 4
    for name, why in (
        ("broken", "no printer"),
        ("wrong", "artifacts() returned"),
        ("spelt", "no name of an artifact"),
        ("twice", "report.txt is another plugin's"),
    ):
        assert any(line.startswith(f"{name} of acme-reports") and why in line for line in nothing)


async def test_an_artifact_of_a_plugin_that_hangs_is_not_waited_for(
    runs: Any, install: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrai_core.runs.work._ARTIFACTS_LIMIT_S", 0.2)
    install(slow="time.sleep(60)")
    record = await runs.run([MEND])
    assert (record.status, record.artifacts) == ("achieved", [])
    warnings = [event.payload["message"] for event in runs.events(record, "log")]
    assert any("slow of acme-reports keeps nothing" in line for line in warnings)


async def test_a_cancellation_that_comes_when_the_run_has_ended_cuts_off_nothing(
    runs: Any, install: Any
) -> None:
    class CancelledAtItsEnd(FilesStore):
        """Cancels the run while a plugin's file is being kept."""

        async def put_blob(self, claim: Claim, name: str, data: bytes) -> None:
            await self.send(claim.run_id, Cancel())
            async with asyncio.timeout(60):
                await self.is_taken.wait()
            await asyncio.sleep(0)
            await super().put_blob(claim, name, data)

        async def commands(self, claim: Claim, after: int) -> Any:
            found = await super().commands(claim, after)
            if found:
                self.is_taken.set()
            return found

    install(report=REPORT)
    store = CancelledAtItsEnd(state=runs.store.state)
    store.is_taken = asyncio.Event()
    async with RunManager(store, "inline") as manager:
        run = await manager.submit(RunRequest(config=runs.config([MEND])))
        record = await run.result()
        assert (record.status, record.reason) == ("achieved", "all files are right")
        assert await run.artifact("report.json")
