"""The contract of agents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel, ValidationError

from retrai_core import UsageError
from retrai_core.agents.goal_loop.graph import completed
from retrai_core.plugins.answers import checked_answers
from retrai_core.plugins.describe import described_fields
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

    The runs use the kit's tool `put_file` with the model `scripted`; those of an agent that needs a
    goal also the kit's goal `expected-files`.

    Attributes:
        fixing: turns with which an agent that needs a goal fixes `a.txt` (by default one call of
            `put_file`).
        input: what an agent without a goal is given.
        turns: the model's turns in a run without a goal (by default one call of `put_file`, and a
            text).

    Example:
        >>> from retrai_core import GoalLoopAgent
        >>> class TestGoalLoop(AgentConformance):
        ...     plugin = GoalLoopAgent
        >>> import tempfile
        >>> TestGoalLoop().test_it_builds_a_graph(Path(tempfile.mkdtemp()), {})
    """

    kind: ClassVar[Kind] = "agent"
    fixing: tuple[Turn, ...] = (_MEND,)
    input: Mapping[str, Any] = {}
    turns: tuple[Turn, ...] = (_MEND, say("I have put it right."))

    def test_every_field_of_its_input_is_documented(self) -> None:
        """Each field has a description, and a misspelt one is refused (`extra="forbid"`)."""
        model: type[BaseModel] = self.plugin.Input
        fields = described_fields(model)
        silent = [name for name, field in fields.items() if not field.description]
        assert not silent, f"without a description: {', '.join(silent)}"
        with pytest.raises(ValidationError):
            model.model_validate({**self.input, "no_such_field": 1})

    def test_a_wrong_input_leaves_no_run(
        self, retrai_project: RetraiProject, plugin_options: Mapping[str, Any]
    ) -> None:
        """What the agent does not take is a usage error before there is a run."""
        with pytest.raises(UsageError, match="no_such_field"):
            self._run(retrai_project, plugin_options, *self.turns, input={"no_such_field": 1})
        runs = retrai_project.state / "runs"
        assert not runs.exists() or not list(runs.iterdir())

    def test_it_ends_with_a_result(
        self, retrai_project: RetraiProject, plugin_options: Mapping[str, Any]
    ) -> None:
        """A run without a goal ends as the agent's result says, with no verdict."""
        self._require_goal(False)
        run = self._run(retrai_project, plugin_options, *self.turns)
        record = run.record
        assert record.status == "answered", f"{record.reason}\n{run.stderr}"
        assert (run.exit_code, record.goals) == (0, [])
        assert record.output or record.data, "the result is empty"
        kinds = {event.kind for event in run.events()}
        assert {"step_start", "llm_usage", "run_end"} <= kinds
        assert "goal_check" not in kinds

    def test_it_goes_on_where_it_stopped(
        self, retrai_project: RetraiProject, plugin_options: Mapping[str, Any]
    ) -> None:
        """Stopped at each of the model's turns, a resumed run comes to the same end."""
        turns = self.fixing if self.plugin.requires_goal else self.turns
        lost = Turn(error="the connection is gone", fatal=True)
        for number in range(len(turns)):
            run = self._run(retrai_project, plugin_options, *turns[:number], lost, *turns[number:])
            if run.record.resumable:
                run = retrai_project.resume_here(run)
            end = run.record
            assert end.exit_code == 0, f"stopped at turn {number + 1}: {end.status}: {end.reason}"
            called = [call for turn in turns for call in turn.calls]
            assert len(run.tool_results()) == len(called), "a call was made twice, or not at all"

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
        """A model that fixes the project brings the run to `achieved`, and its work is told."""
        self._require_goal(True)
        run = self._run(retrai_project, plugin_options, *self.fixing, say("Fixed."))
        assert run.record.status == "achieved", f"{run.record.reason}\n{run.stderr}"
        assert run.exit_code == 0
        assert retrai_project.read("a.txt") == "right"
        kinds = {event.kind for event in run.events()}
        assert {"goal_check", "llm_usage", "tool_call", "tool_result", "run_end"} <= kinds

    def test_it_stops_at_its_limit(
        self, retrai_project: RetraiProject, plugin_options: Mapping[str, Any]
    ) -> None:
        """A model that only talks ends the run within `max_iterations`, and not as achieved."""
        self._require_goal(True)
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
        turns = self.fixing if self.plugin.requires_goal else self.turns
        together = Turn(calls=tuple(each.calls[0] for each in bad))
        run = self._run(retrai_project, plugin_options, together, *turns)
        assert run.record.exit_code == 0, f"{run.record.reason}\n{run.stderr}"
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

    def build(self, bench: Bench, options: Mapping[str, Any]) -> Any:
        """One instance, as a run builds it."""
        built = completed(self.plugin)(self.plugin.Options.model_validate(options), bench.context)
        return checked_answers(built)

    def _require_goal(self, wanted: bool) -> None:
        if self.plugin.requires_goal != wanted:
            pytest.skip("it needs a goal" if self.plugin.requires_goal else "it needs no goal")

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
        given: dict[str, Any] = {"agent": self.name, "plugins": plugins, **settings}
        if self.plugin.requires_goal:
            return project.run_here(_GOAL, model=script, files=_FILES, **given)
        given = {"input": dict(self.input), "tools": ["put_file"], **given}
        return project.run_here(None, model=script, **given)
