"""The contract of hook plugins."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

import pytest

from retrai_core import (
    GateDecision,
    GoalBase,
    RunContext,
    Tool,
    ToolCall,
)
from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.describe import hook_names
from retrai_core.plugins.hooks import HookCaller
from retrai_core.plugins.kinds import Kind
from retrai_core.plugins.other_hookspecs import load_hookspecs, unknown_hooks
from retrai_core.plugins.record import PluginRecord

from ..bench import Bench
from ..expected_files import ExpectedFiles, ExpectedFilesOptions
from ..footprint import Footprint
from .plugin import PluginConformance

T = TypeVar("T")
_VERDICTS = ("allow", "ask", "deny")
_HOOKS: Mapping[str, Callable[[RunContext], list[dict[str, Any]]]] = {
    "before_tool": lambda context: [{"call": one, "context": context} for one in _calls()],
    "system_prompt": lambda context: [{"goal": context.goal, "context": context}],
    "tools": lambda context: [{"context": context}],
    "goals": lambda context: [{"context": context}],
}


class HookConformance(PluginConformance):
    """The contract of a hook plugin, as tests: inherit it and name it.

    Attributes:
        entry_point: the entry point's name; a hook plugin's class needs no `name`.

    Example:
        >>> from retrai_core import hookimpl
        >>> class Politeness:
        ...     "Asks for polite comments."
        ...     @hookimpl
        ...     def system_prompt(self, goal, context):
        ...         return "Write polite comments."
        >>> class TestPoliteness(HookConformance):
        ...     plugin = Politeness
        ...     entry_point = "politeness"
        >>> import tempfile
        >>> TestPoliteness().test_every_hook_answers_as_specified(Path(tempfile.mkdtemp()))
    """

    kind: ClassVar[Kind] = "hook"

    def test_its_hooks_are_retrai_s(self) -> None:
        """Each method marked with `@hookimpl` is a hook of retrai or of an installed distribution,
        with arguments that it gives."""
        assert hook_names(self.plugin), "no method is marked with `@hookimpl`"
        for _, error in self._caller().broken:
            pytest.fail(str(error), pytrace=False)

    def test_each_run_has_an_object_of_its_own(self) -> None:
        """A class is built once a run, without arguments, or with its `Options`, each of which has
        a default; building it does no work."""
        plugin: Any = self.plugin
        if isinstance(plugin, type):
            model: Any = getattr(plugin, "Options", None)
            given = () if model is None else (model(),)
            assert plugin(*given) is not plugin(*given), "two runs share one object"

    def test_every_hook_answers_as_specified(self, tmp_path: Path) -> None:
        """Each hook takes every call and context, and answers with what it should."""

        async def use(bench: Bench) -> None:
            for hook, arguments, given in self._answers(bench.context):
                answer = await _whole(given)
                assert not isinstance(answer, Exception), f"{hook}({arguments}) raises {answer!r}"
                _judge(hook, answer)

        self._drive(tmp_path, use)

    def test_it_works_in_another_thread(self, tmp_path: Path) -> None:
        """Hooks are called from other threads than the one that built the plugin."""

        async def use(bench: Bench) -> None:
            answers = await asyncio.to_thread(self._answers, bench.context)
            for _, _, answer in answers:
                await _whole(answer)
            failed = [f"{hook}: {a!r}" for hook, _, a in answers if isinstance(a, Exception)]
            assert not failed, "; ".join(failed)

        self._drive(tmp_path, use)

    def test_its_arguments_stay_as_they_are(self, tmp_path: Path) -> None:
        """Calls and the context belong to the run: no hook changes them."""

        async def use(bench: Bench) -> None:
            context = bench.context
            before = dict(vars(context)), dict(context.tools)
            for hook, arguments, answer in self._answers(context):
                await _whole(answer)
                given = {name: repr(value) for name, value in arguments.items()}
                assert given in _as_text(_HOOKS[hook](context)), f"{hook} changes its arguments"
            assert (dict(vars(context)), dict(context.tools)) == before, "the context was changed"

        self._drive(tmp_path, use)

    def test_using_it_changes_no_global_state(self, tmp_path: Path) -> None:
        """No module or class variable, folder, environment, thread or process is left changed."""

        async def use(bench: Bench) -> None:
            for _, _, answer in self._answers(bench.context):
                await _whole(answer)

        self._drive(tmp_path / "first", use)
        before = Footprint(self.package)
        self._drive(tmp_path / "second", use)
        self.require_unchanged(before.changes())

    def _caller(self) -> HookCaller:
        record = PluginRecord(self.name, "hook", self.package, "", f"{self.module}:")
        others = load_hookspecs(Catalog.scan(environ={}), unknown_hooks([self.plugin]))
        return HookCaller([(record, self.plugin)], others=others)

    def _answers(self, context: RunContext) -> list[tuple[str, dict[str, Any], object]]:
        """What each hook answers to each of its arguments."""
        caller = self._caller()
        return [
            (hook, arguments, answer)
            for hook, examples in _HOOKS.items()
            for arguments in examples(context)
            for _, answer in caller.call_each(hook, **arguments)
        ]

    def _drive(self, base: Path, use: Callable[[Bench], Awaitable[T]]) -> T:
        async def work() -> T:
            async with Bench.open(base) as bench:
                bench.context.goal_part = ExpectedFiles(ExpectedFilesOptions(), bench.context)
                return await use(bench)

        return asyncio.run(work())


async def _whole(answer: object) -> object:
    return await answer if inspect.isawaitable(answer) else answer


def _calls() -> list[ToolCall]:
    return [
        ToolCall("1", "file_read", {"path": "a.txt"}, frozenset({"read"})),
        ToolCall("2", "bash_exec", {"command": "true"}, frozenset({"read", "write", "run"})),
        ToolCall("3", "web_fetch", {"url": "http://127.0.0.1/"}, frozenset({"network"})),
        ToolCall("4", "no_such_tool", {}),
    ]


def _as_text(examples: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{name: repr(value) for name, value in each.items()} for each in examples]


def _judge(hook: str, answer: object) -> None:
    if hook == "before_tool" and answer is not None:
        assert isinstance(answer, GateDecision), f"{answer!r} is no GateDecision"
        assert answer.verdict in _VERDICTS, f"{answer.verdict!r} is none of {_VERDICTS}"
        if answer.verdict == "deny":
            assert answer.reason.strip(), "the model must read why it is refused"
    elif hook == "system_prompt":
        assert answer is None or isinstance(answer, str)
    elif hook in ("tools", "goals"):
        wanted = Tool if hook == "tools" else GoalBase
        assert answer is None or isinstance(answer, (list, tuple)), f"{hook} gives a sequence"
        for part in cast("tuple[Any, ...]", answer or ()):
            assert isinstance(part, wanted), f"{part!r} is no {wanted.__name__}"
            assert part.name.strip()
