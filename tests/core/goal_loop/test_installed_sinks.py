"""Every installed event sink hears a run from its first event to its last."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from retrai_core import AgentEvent, UsageError

SINK = """
import json
from pathlib import Path

from retrai_core import EventSink, SinkOptions


class Options(SinkOptions):
    folder: Path


class Diary(EventSink):
    name = "diary"
    summary = "writes everything down"
    Options = Options

    def start(self, run):
        self.file = (self.options.folder / f"{run.run_id}-{id(self)}.jsonl").open("x")
        told = [list(run.goals), run.agent, run.model, str(run.project)]
        self.file.write(json.dumps(told) + "\\n")

    def on_event(self, event):
        self.file.write(event.to_json() + "\\n")

    async def aclose(self):
        self.file.write("closed\\n")
        self.file.close()
"""


@pytest.fixture
def diary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that an installed sink writes to."""
    site = tmp_path / "site"
    for dist in ("acme-one", "acme-two"):
        name = f"{dist}-{tmp_path.name}".replace("-", "_")
        info = site / f"{dist.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[retrai.sinks]\ndiary = {name}:Diary\n")
        (site / f"{name}.py").write_text(SINK)
    monkeypatch.syspath_prepend(str(site))
    folder = tmp_path / "diary"
    folder.mkdir()
    return folder


async def test_it_hears_all_that_stands_in_the_run_s_log(runs: Any, diary: Path) -> None:
    record = await runs.run([], plugins={"diary": {"folder": str(diary)}})
    files = list(diary.glob(f"{record.id}-*.jsonl"))
    assert len(files) == 2, "two distributions may offer sinks of one name"
    logged = runs.events(record)
    assert [logged[0].kind, logged[-1].kind] == ["log", "run_end"]
    for file in files:
        about, *heard, last = file.read_text().splitlines()
        assert json.loads(about) == [["expected-text"], "goal-loop", "turns", str(runs.project)]
        assert [AgentEvent.from_json(line) for line in heard] == logged
        assert last == "closed"


async def test_one_without_what_it_needs_is_left_out_with_a_warning(runs: Any, diary: Path) -> None:
    record = await runs.run([])
    warnings = [
        event.payload["message"]
        for event in runs.events(record, "log")
        if event.payload["level"] == "warning"
    ]
    assert [line.split()[3] for line in warnings if "is not used" in line] == [
        "diary@acme-one",
        "diary@acme-two",
    ]
    assert all("folder" in line for line in warnings if "is not used" in line)


async def test_an_option_that_it_does_not_take_is_refused(runs: Any, diary: Path) -> None:
    with pytest.raises(UsageError, match="path"):
        await runs.run([], plugins={"diary": {"path": str(diary)}})
    assert list(await runs.store.list()) == []
