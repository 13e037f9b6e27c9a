"""The contract of tools."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import ValidationError

from retrai_core import RetraiError, ToolResult
from retrai_core.plugins.entry import OFFERS
from retrai_core.plugins.kinds import Kind

from ..bench import Bench
from ..footprint import Footprint
from ..overriding import NotApplicable
from .built import BuiltConformance, cancelled
from .clear_errors import require_clear_error, require_clear_line
from .plugin import required
from .tool_observed import ObservedTool, ToolExample, Trial, observe

_CALLABLE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ROOM_FOR_NOTES = 500
_SECRET = "the-text-outside-the-project"


@dataclass(frozen=True)
class EndlessCall:
    """A call that would take longer than anyone waits, unless `options` limit it.

    Attributes:
        args: the arguments.
        options: options with which it gives up by itself within seconds.
    """

    args: Mapping[str, Any]
    options: Mapping[str, Any]


class ToolConformance(BuiltConformance):
    """The contract of a tool, as tests: inherit it and give examples.

    Attributes:
        examples: calls with their outcome, on the project that `write_project` makes.
        bad_examples: arguments that are well formed and cannot be met (a missing file).
        path_argument: the argument that names a file or folder of the project.
        long_example: arguments of a call whose answer is longer than 200 characters.
        endless: a call that takes long, for time-outs and cancellation.

    Example:
        >>> from retrai_core import Tool, ToolArgs, ToolResult
        >>> class CountArgs(ToolArgs):
        ...     text: str
        >>> class Count(Tool):
        ...     name = "count"
        ...     description = "Count the characters of a text."
        ...     needs = frozenset()
        ...     Args = CountArgs
        ...     async def run(self, args, context):
        ...         return ToolResult(str(len(args.text)))
        >>> class TestCount(ToolConformance):
        ...     plugin = Count
        ...     examples = (ToolExample({"text": "four"}, contains="4"),)
        ...     bad_examples = NotApplicable("every text has a length")
        ...     path_argument = NotApplicable("it takes no path")
        ...     long_example = NotApplicable("a number is short")
        ...     endless = NotApplicable("counting ends by itself")
        >>> import tempfile
        >>> TestCount().test_examples_come_out_as_stated(Path(tempfile.mkdtemp()), {}, {})
        >>> TestCount().test_every_argument_is_documented()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        AssertionError: without a description: text...
    """

    kind: ClassVar[Kind] = "tool"
    examples: Sequence[ToolExample] = ()
    bad_examples: Sequence[Mapping[str, Any]] | NotApplicable | None = None
    path_argument: str | NotApplicable | None = None
    long_example: Mapping[str, Any] | NotApplicable | None = None
    endless: EndlessCall | NotApplicable | None = None

    def test_a_model_can_call_it(self) -> None:
        """The name, the description and the arguments are what a model's API takes."""
        assert _CALLABLE_NAME.fullmatch(self.plugin.name), "letters, digits, _ and -, at most 64"
        assert self.plugin.description.strip()
        assert self.plugin.Args.model_json_schema()["type"] == "object"

    def test_it_says_which_runs_get_it(self) -> None:
        """`offered` is `always` or `by_goal`."""
        offered = self.plugin.offered
        assert offered in OFFERS, f"offered is {offered!r}, none of {', '.join(OFFERS)}"

    def test_every_argument_is_documented(self) -> None:
        """The model goes by each argument's description."""
        fields = self.plugin.Args.model_fields
        silent = [name for name, argument in fields.items() if not argument.description]
        assert not silent, f"without a description: {', '.join(silent)}"

    def test_an_unknown_argument_is_refused(self) -> None:
        """An argument that the tool does not have is an error for the model to read."""
        example = self._examples()[0]
        with pytest.raises(ValidationError):
            self.plugin.Args.model_validate({**example.args, "no_such_argument": 1})

    def test_examples_come_out_as_stated(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """Each example answers, and writes, what it says."""
        tried = self._observed(tmp_path, plugin_options, kept).tried
        problems = [one.problem for one in tried if one.problem]
        assert not problems, "; ".join(problems)

    def test_it_touches_the_project_only_through_its_context(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """Files go through `context.workspace`, processes through `context.sandbox`."""
        tried = self._observed(tmp_path, plugin_options, kept).tried
        acts = [act for one in tried for act in (*one.acts.files, *one.acts.processes)]
        assert not acts, "; ".join(acts)

    def test_it_declares_what_it_needs(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """A tool that writes the project needs `write`, one that connects needs `network`."""
        tried = self._observed(tmp_path, plugin_options, kept).tried
        needs = self.plugin.needs
        assert "write" in needs or not any(one.wrote for one in tried), (
            "it writes the project without `write` among its needs"
        )
        connections = [line for one in tried for line in one.acts.connections]
        assert "network" in needs or not connections, "; ".join(connections)

    def test_two_runs_share_nothing(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """An instance touches only its own run's parts, also while another run goes on."""
        seen = self._observed(tmp_path, plugin_options, kept)
        used = any(one.bystander_uses for one in seen.tried)
        assert not used, "an instance used the context of another"
        assert not seen.side_by_side, "; ".join(seen.side_by_side)

    def test_using_it_changes_no_global_state(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """No module or class variable, folder, environment, thread or process is left changed."""
        self.require_unchanged(self._observed(tmp_path, plugin_options, kept).left)

    def test_a_call_has_a_short_summary(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """`summary` says in one line what a call does; it may be empty."""

        async def use(bench: Bench, tool: Any) -> None:
            for example in self._examples():
                summary = tool.summary(self.plugin.Args.model_validate(example.args))
                if summary:
                    require_clear_line(summary)

        self.drive(tmp_path, plugin_options, use)

    def test_what_cannot_be_done_is_said_in_one_line(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """A call that cannot be met raises ToolError or WorkspaceError, or answers `ok=False`."""
        examples = required(self.bad_examples, "give `bad_examples`: calls that cannot be met")
        for number, bad in enumerate(examples):

            async def use(bench: Bench, tool: Any, bad: Mapping[str, Any] = bad) -> None:
                try:
                    answer = await self._call(bench, tool, bad)
                except Exception as error:  # noqa: BLE001 - whatever it raises is judged
                    require_clear_error(error)
                else:
                    assert not answer.ok, f"{bad} came out as {answer.content[:200]!r}"
                    assert answer.content.strip(), "the model must read why"

            self.drive(tmp_path / str(number), plugin_options, use)

    def test_no_path_leads_out_of_the_project(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """`..`, absolute paths and symlinks out are refused, and nothing outside is touched."""
        argument = required(self.path_argument, "give `path_argument`: the one that is a path")
        outside = tmp_path / "outside.txt"
        outside.write_text(_SECRET)
        base = self._examples()[0].args

        async def use(bench: Bench, tool: Any) -> None:
            (bench.project / "leads-out").symlink_to(outside)
            for path in ("../../outside.txt", str(outside), "leads-out", "a/../../../outside.txt"):
                try:
                    answer = await self._call(bench, tool, {**base, argument: path})
                except Exception as error:  # noqa: BLE001 - whatever it raises is judged
                    require_clear_error(error)
                else:
                    assert _SECRET not in answer.content, f"{path} was read"

        self.drive(tmp_path / "inside", plugin_options, use)
        assert outside.read_text() == _SECRET, "a file outside the project was changed"

    def test_a_long_answer_is_cut(self, tmp_path: Path, plugin_options: Mapping[str, Any]) -> None:
        """With `max_chars` a tool keeps to it by itself, but for a short note of what was cut."""
        args = required(self.long_example, "give `long_example`: a call with a long answer")

        async def length(bench: Bench, tool: Any) -> int:
            return len((await self._call(bench, tool, args)).content)

        whole = self.drive(tmp_path / "whole", plugin_options, length)
        assert whole > 300, f"its answer of {whole} characters is too short to try the limit"
        cut = self.drive(tmp_path / "cut", {**plugin_options, "max_chars": 200}, length)
        assert cut <= 200 + _ROOM_FOR_NOTES, f"{cut} characters with max_chars=200"
        assert cut < whole or whole <= 200 + _ROOM_FOR_NOTES

    def test_it_gives_up_by_itself(self, tmp_path: Path, plugin_options: Mapping[str, Any]) -> None:
        """At its own time-out it says so to the model, and leaves no process."""
        endless = self._endless()

        async def use(bench: Bench, tool: Any) -> None:
            try:
                answer = await self._call(bench, tool, endless.args)
            except RetraiError as error:
                require_clear_error(error)
            else:
                assert not answer.ok, "it ran out of time, and says that all is well"

        before = Footprint(self.package)
        self.drive(tmp_path, {**plugin_options, **endless.options}, use)
        assert not before.left_running()

    def test_cancelling_it_leaves_no_process(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """When the user stops a run, nothing that the tool started lives on."""
        endless = self._endless()

        async def use(bench: Bench, tool: Any) -> Sequence[str]:
            await bench.sandbox.run(["true"], timeout_s=20)  # its helper process stays
            before, uses = Footprint(self.package), bench.sandbox.uses
            await cancelled(
                self._call(bench, tool, endless.args),
                until=lambda: bench.sandbox.uses > uses and before.new_processes(),
            )
            return await asyncio.to_thread(before.processes_left_running)

        left = self.drive(tmp_path, plugin_options, use)
        assert not left, "; ".join(left)

    def _observed(
        self, base: Path, options: Mapping[str, Any], kept: dict[str, Any]
    ) -> ObservedTool:
        if "observed" not in kept:
            trial = Trial(
                self.prepared, lambda bench: self.build(bench, options), self._call, self.package
            )
            kept["observed"] = observe(base, trial, self._examples())
        return kept["observed"]

    def _examples(self) -> Sequence[ToolExample]:
        return required(self.examples, "give `examples`: calls with their outcome")

    def _endless(self) -> EndlessCall:
        return required(self.endless, "give `endless`: a call that takes long")

    async def _call(self, bench: Bench, tool: Any, args: Mapping[str, Any]) -> ToolResult:
        return await tool.run(self.plugin.Args.model_validate(args), bench.context)
