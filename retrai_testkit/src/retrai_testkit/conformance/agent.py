"""The contract of agents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from retrai_core.plugins.kinds import Kind

from ..bench import Bench
from ..footprint import Footprint
from ..project import FinishedRun, RetraiProject
from ..script import ScriptedModel
from ..turns import Turn, call, say
from .built import BuiltConformance

_GOAL = "expected-files"
_FILES = {"a.txt": "right"}
_MEND = call("put_file", path="a.txt", text="right")


class AgentConformance(BuiltConformance):
    """The contract of an agent, as tests: inherit it and name the class.

    The runs use the kit's own goal `expected-files` with the model `scripted`.

    Attributes:
        mending: turns with which the agent mends `a.txt` (by default one call of `put_file`).

    Example:
        >>> from retrai_core.loop.graph import GoalLoopAgent
        >>> class TestGoalLoop(AgentConformance):
        ...     plugin = GoalLoopAgent
        >>> import tempfile
        >>> TestGoalLoop().test_it_builds_a_graph(Path(tempfile.mkdtemp()), {})
    """

    kind: ClassVar[Kind] = "agent"
    mending: tuple[Turn, ...] = (_MEND,)

    def test_it_builds_a_graph(self, tmp_path: Path, plugin_options: Mapping[str, Any]) -> None:
        """`build_graph` compiles a LangGraph graph that keeps the checkpointer it is given."""
        from langgraph.checkpoint.memory import InMemorySaver
        from langgraph.graph.state import CompiledStateGraph

        async def use(bench: Bench, agent: Any) -> None:
            saver = InMemorySaver()
            graph: Any = agent.build_graph(saver)
            assert isinstance(graph, CompiledStateGraph)
            assert vars(graph)["checkpointer"] is saver, (
                "without its checkpointer no run can be resumed"
            )
            assert agent.build_graph(InMemorySaver()) is not graph, "one graph for two runs"

        self.drive(tmp_path, plugin_options, use)

    def test_building_changes_no_global_state(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """No module or class variable, folder, environment, thread or process is left changed."""
        from langgraph.checkpoint.memory import InMemorySaver

        async def use(bench: Bench, agent: Any) -> None:
            agent.build_graph(InMemorySaver())

        self.drive(tmp_path / "first", plugin_options, use)
        before = Footprint(self.package)
        self.drive(tmp_path / "second", plugin_options, use)
        self.require_unchanged(before.changes())

    def test_it_reaches_the_goal(
        self, retrai_project: RetraiProject, plugin_options: Mapping[str, Any]
    ) -> None:
        """A model that mends the project brings the run to `achieved`, and its work is told."""
        run = self._run(retrai_project, plugin_options, *self.mending, say("Mended."))
        assert run.record.status == "achieved", f"{run.record.reason}\n{run.stderr}"
        assert run.exit_code == 0
        assert retrai_project.read("a.txt") == "right"
        kinds = {event.kind for event in run.events()}
        assert {"goal_check", "llm_usage", "tool_call", "tool_result", "run_end"} <= kinds

    def test_it_stops_at_its_limit(
        self, retrai_project: RetraiProject, plugin_options: Mapping[str, Any]
    ) -> None:
        """A model that only talks ends the run within `max_iterations`, and not as achieved."""
        turns = [say(f"Thought number {number}.") for number in range(40)]
        run = self._run(retrai_project, plugin_options, *turns, max_iterations=3)
        assert run.record.status in ("failed", "stuck"), run.record.reason
        assert run.record.iterations <= 3

    def test_a_tool_that_fails_does_not_end_the_run(
        self, retrai_project: RetraiProject, plugin_options: Mapping[str, Any]
    ) -> None:
        """Unknown tools, wrong arguments and refused paths are results for the model."""
        bad = (
            call("no_such_tool"),
            call("put_file", nothing="at all"),
            call("put_file", path="../outside.txt", text="x"),
        )
        run = self._run(retrai_project, plugin_options, *bad, *self.mending)
        assert run.record.status == "achieved", f"{run.record.reason}\n{run.stderr}"
        failed = [event for event in run.events("tool_result") if event.payload["error"]]
        assert len(failed) == len(bad)

    def test_a_model_that_fails_for_good_ends_the_run(
        self, retrai_project: RetraiProject, plugin_options: Mapping[str, Any]
    ) -> None:
        """A fatal model error ends the run as `error`, with the model's own message."""
        turn = Turn(error="the key is wrong", fatal=True)
        run = self._run(retrai_project, plugin_options, turn)
        assert run.record.status == "error", run.record.reason
        assert "the key is wrong" in run.record.reason

    def _run(
        self,
        project: RetraiProject,
        options: Mapping[str, Any],
        *turns: Turn,
        **settings: Any,
    ) -> FinishedRun:
        project.write({"a.txt": "wrong"})
        plugins = {self.name: dict(options)} if options else {}
        script = ScriptedModel().play(*turns)
        return project.run_here(
            _GOAL, model=script, files=_FILES, agent=self.name, plugins=plugins, **settings
        )
