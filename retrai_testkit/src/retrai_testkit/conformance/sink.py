"""The contract of event sinks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from retrai_core import EVENT_KINDS, AgentEvent, EventKind, RunInfo
from retrai_core.plugins.kinds import Kind
from retrai_core.plugins.record import PluginRecord
from retrai_core.runs.event_sinks import EventSinks
from retrai_core.runs.resolved_run import Part

from ..bench import Bench
from ..footprint import Footprint
from .built import BuiltConformance


class EventSinkConformance(BuiltConformance):
    """The contract of an event sink, as tests: inherit it and name the class.

    A sink that sends events somewhere is tried with a server of the test's own: give its address in
    `options`, or by the fixture `plugin_options`.

    Example:
        >>> from retrai_core import EventSink
        >>> class Counting(EventSink):
        ...     name = "counting"
        ...     def start(self, run):
        ...         self.count = 0
        ...     def on_event(self, event):
        ...         self.count += 1
        >>> class TestCounting(EventSinkConformance):
        ...     plugin = Counting
        >>> import tempfile
        >>> TestCounting().test_it_hears_every_kind_of_event(Path(tempfile.mkdtemp()), {})
    """

    kind: ClassVar[Kind] = "sink"

    def test_it_hears_every_kind_of_event(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """It takes every event, also with keys missing, long texts and half a surrogate pair."""
        problems = self.hear(tmp_path, plugin_options, _events(tmp_path.name))
        assert not problems, "; ".join(problems)

    def test_it_hears_a_run_that_says_nothing(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """A run may end before its first event: it is started and closed."""
        problems = self.hear(tmp_path, plugin_options, [])
        assert not problems, "; ".join(problems)

    def test_two_runs_share_nothing(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Two runs in one process are heard side by side, each by an instance of its own."""

        async def both() -> list[str]:
            made = [self._sinks(tmp_path / name, plugin_options) for name in ("one", "two")]
            for first, second in zip(_events("one"), _events("two"), strict=True):
                made[0][0].hear(first)
                made[1][0].hear(second)
            late = [line for sinks, _ in made for line in await sinks.drain(self.patience_s)]
            return [line for _, problems in made for line in problems] + late

        problems = asyncio.run(both())
        assert not problems, "; ".join(problems)

    def test_using_it_changes_no_global_state(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """No module or class variable, folder, environment, thread or process is left changed."""
        self.hear(tmp_path / "first", plugin_options, _events("first"))
        before = Footprint(self.package)
        self.hear(tmp_path / "second", plugin_options, _events("second"))
        self.require_unchanged(before.changes())

    def hear(
        self, base: Path, options: Mapping[str, Any], events: Sequence[AgentEvent]
    ) -> list[str]:
        """Let one instance hear a run of these events, in a thread as in a run; what failed."""

        async def work() -> list[str]:
            sinks, problems = self._sinks(base, options)
            for event in events:
                sinks.hear(event)
            return problems + await sinks.drain(self.patience_s)

        return asyncio.run(work())

    def build(self, bench: Bench, options: Mapping[str, Any]) -> Any:
        """One instance, which has not been started."""
        return self.plugin(self.plugin.Options.model_validate(options))

    def _sinks(self, base: Path, options: Mapping[str, Any]) -> tuple[EventSinks, list[str]]:
        (base / "project").mkdir(parents=True, exist_ok=True)
        record = PluginRecord(self.name, "sink", self.package, "", f"{self.module}:")
        part: Part[Any] = Part(record, self.plugin, self.plugin.Options.model_validate(options))
        run = RunInfo(base.name, ("expected-files",), "goal-loop", "scripted", base / "project")
        problems: list[str] = []
        return EventSinks([part], run, problems.append), problems


def _events(run_id: str) -> list[AgentEvent]:
    payloads: list[dict[str, Any]] = [
        {},
        {"message": "\udcff\n", "reason": "x" * 10_000, "content": None, "args": {"path": []}},
    ]
    # The end comes last.
    kinds: list[EventKind] = [*(k for k in EVENT_KINDS if k != "run_end"), "run_end"]
    pairs: list[tuple[EventKind, dict[str, Any]]] = [
        (kind, payload) for kind in kinds for payload in payloads
    ]
    return [
        AgentEvent(kind, run_id, 0, payload, ts=0.0, seq=number)
        for number, (kind, payload) in enumerate(pairs, 1)
    ]
