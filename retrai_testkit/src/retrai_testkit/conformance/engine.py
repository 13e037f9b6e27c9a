"""The contract of engines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, ParamSpec

import psutil
import pytest
from pydantic import ValidationError

from retrai_core import (
    Engine,
    FilesStore,
    Resume,
    Run,
    RunConfig,
    RunManager,
    RunNotFoundError,
    RunRecord,
    RunRequest,
    UsageError,
)
from retrai_core.plugins.describe import describe_plugin
from retrai_core.plugins.kinds import Kind

from ..project import DEFAULTS
from ..script import ScriptedModel
from ..turns import call, say
from .plugin import PluginConformance

P = ParamSpec("P")

_PATIENCE_S = 300.0
_UNDER_WAY = ("pending", "running", "waiting")


def _in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a test in an event loop of its own, and never for ever."""

    @wraps(test)
    def run(*arguments: P.args, **named: P.kwargs) -> None:
        async def limited() -> None:
            async with asyncio.timeout(_PATIENCE_S):
                await test(*arguments, **named)

        asyncio.run(limited())

    return run


class EngineTests:
    """What an engine must do, as tests of the class alone, which need not be installed.

    The runs use the kit's model `scripted` and its goal `expected-files`. Their store is `files`,
    in a folder of the test's own, which is the user's state folder in `RETRAI_STATE_DIR` too.

    Attributes:
        plugin: the engine's class.
        options: the options that it is tried with.
    """

    plugin: Any = None
    options: Mapping[str, Any] = {}

    @pytest.fixture
    def place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A folder for projects and records, with no settings of a user."""
        monkeypatch.setenv("RETRAI_STATE_DIR", str(tmp_path / "state"))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        return tmp_path

    @_in_loop
    async def test_a_run_is_executed_to_its_end(self, place: Path) -> None:
        """`submit` answers at once with a future, which is done when the run has ended."""
        async with self._opened(place) as (engine, manager):
            run = await self._made(engine, manager, place, asks=False)
            future = engine.submit(run.id)
            assert not future.done(), "it has waited for the run"
            await future
            record = await run.record()
            assert record.status == "achieved", record.reason
            assert (place / "project" / "a.txt").read_text() == "right"
            assert (await run.logged())[-1].kind == "run_end"
            assert await manager.store.claim(run.id, "another") is not None, "the claim is kept"

    @_in_loop
    async def test_what_keeps_a_run_from_beginning_is_raised(self, place: Path) -> None:
        """The future has the usage error, with its hint, and nothing is left of the run."""
        async with self._opened(place) as (engine, manager):
            run = await self._made(engine, manager, place, goal="no-such-goal")
            with pytest.raises(UsageError, match="no-such-goal") as caught:
                await engine.submit(run.id)
            assert caught.value.hint
            with pytest.raises(RunNotFoundError):
                await run.record()

    @_in_loop
    async def test_who_goes_away_ends_no_run(self, place: Path) -> None:
        """Cancelling the future changes nothing for the run."""
        async with self._opened(place) as (engine, manager):
            run = await self._made(engine, manager, place)
            future = engine.submit(run.id)
            await _wait_until_asked(run)
            future.cancel()
            await asyncio.wait([future])
            assert (await run.record()).status == "waiting"
            await _answer(manager, run, "approve")
            assert await _end(run) == "achieved"

    @_in_loop
    async def test_two_runs_go_on_side_by_side(self, place: Path) -> None:
        """In two projects; each ends for itself."""
        async with self._opened(place) as (engine, manager):
            made = [await self._made(engine, manager, place, name) for name in ("one", "two")]
            futures = [engine.submit(run.id) for run in made]
            for run in made:
                await _wait_until_asked(run)
            assert await made[1].cancel()
            await futures[1]
            assert not futures[0].done(), "the end of one has ended the other"
            await _answer(manager, made[0], "approve")
            await futures[0]
            ends = [(await run.record()).status for run in made]
            assert ends == ["achieved", "aborted"]

    @_in_loop
    async def test_commands_reach_the_run(self, place: Path) -> None:
        """Settings, answers and the wish to end it, also from another manager."""
        async with self._opened(place) as (engine, manager), self._manager(place) as another:
            run = await self._made(engine, manager, place)
            future = engine.submit(run.id)
            await _wait_until_asked(run)
            other = await another.get(run.id)
            await other.configure(max_iterations=5)
            assert await other.cancel()
            await future
            record = await run.record()
            assert (record.status, record.limits.max_iterations) == ("aborted", 5)

    @_in_loop
    async def test_a_run_that_was_stopped_is_submitted_again(self, place: Path) -> None:
        """It goes on where it was."""
        async with self._opened(place) as (engine, manager):
            run = await self._made(engine, manager, place)
            future = engine.submit(run.id)
            await _wait_until_asked(run)
            assert await run.cancel("interrupted")
            await future
            assert (await run.record()).resumable
            await manager.store.send(run.id, Resume())
            again = engine.submit(run.id)
            await _answer(manager, run, "approve")
            await again
            assert (await run.record()).status == "achieved"

    @_in_loop
    async def test_a_closed_engine_leaves_no_run_without_an_end(self, place: Path) -> None:
        """What ran in this process is `interrupted`, and says so; all else goes on, and can be
        reached when an engine attaches again."""
        async with self._opened(place) as (engine, manager):
            run = await self._made(engine, manager, place)
            engine.submit(run.id)
            await _wait_until_asked(run)
        async with self._opened(place) as (engine, manager):
            await engine.attach()
            await engine.attach()  # a second time changes nothing
            run = await manager.get(run.id)
            record = await run.record()
            if record.status in _UNDER_WAY:
                assert await run.cancel("interrupted")
                assert await _end(run) == "interrupted"
            assert (await run.record()).resumable
            assert (await run.logged())[-1].kind == "run_end"
            await manager.store.send(run.id, Resume())
            again = engine.submit(run.id)
            await _answer(manager, run, "approve")
            await again
            assert (await run.record()).status == "achieved"

    @_in_loop
    async def test_an_engine_that_nobody_used_is_closed(self, place: Path) -> None:
        """Also twice."""
        async with self._opened(place) as (engine, _):
            await engine.aclose()
            await engine.aclose()

    @_in_loop
    async def test_nothing_is_left_of_a_closed_engine(self, place: Path) -> None:
        """No process, and no task in the event loop."""
        before, tasks = _processes(), asyncio.all_tasks()
        async with self._opened(place) as (engine, manager):
            run = await self._made(engine, manager, place, asks=False)
            await engine.submit(run.id)
        left = _processes() - before
        assert not left, f"processes: {', '.join(map(str, left))}"
        assert not (tasks := asyncio.all_tasks() - tasks), f"tasks: {tasks}"

    def build(self, host: RunManager) -> Engine:
        """The engine, for a manager."""
        return self.plugin(self.plugin.Options.model_validate(dict(self.options)), host)

    def _manager(self, place: Path) -> RunManager:
        return RunManager(FilesStore(state=place / "state"), "inline")

    @asynccontextmanager
    async def _opened(self, place: Path) -> AsyncGenerator[tuple[Engine, RunManager]]:
        async with self._manager(place) as manager:
            engine = self.build(manager)
            try:
                yield engine, manager
            finally:
                await engine.aclose()

    async def _made(
        self,
        engine: Engine,
        manager: RunManager,
        place: Path,
        name: str = "project",
        *,
        goal: str = "expected-files",
        asks: bool = True,
    ) -> Run:
        """A run in the store that asks a person before its second iteration, which fixes `a.txt`;
        or that asks nobody."""
        folder = place / name
        folder.mkdir()
        (folder / "a.txt").write_text("wrong")
        script = ScriptedModel().play(say("I think."), call("put_file", path="a.txt", text="right"))
        given: dict[str, Any] = {**DEFAULTS, **script.settings, "goal": goal, "hitl_enabled": asks}
        config = RunConfig(cwd=folder, options={"files": {"a.txt": "right"}}, **given)
        request = RunRequest(config=config, interactive=asks)
        if goal == "expected-files":
            request = await request.completed(manager.state / "runs" / config.run_id, print)
        record: RunRecord = request.record()
        record.engine = engine.name
        await manager.store.create(record)
        return await manager.get(record.id)


class EngineConformance(EngineTests, PluginConformance):
    """The contract of an engine, as tests: inherit it and name the class.

    The runs are executed, so that what executes them elsewhere must be at work: give its address
    in `options`, and start it in a fixture.

    Example:
        >>> from retrai_core.runs.inline import InlineEngine
        >>> class TestInline(EngineConformance):
        ...     plugin = InlineEngine
        >>> TestInline().test_every_option_is_documented()
    """

    kind: ClassVar[Kind] = "engine"

    def test_every_option_is_documented(self) -> None:
        """Each option has a description: `Field(description=...)` or a string below it."""
        described = describe_plugin(self.kind, self.plugin).options
        silent = [name for name, option in described.items() if not option.description]
        assert not silent, f"without a description: {', '.join(silent)}"

    def test_an_unknown_option_is_refused(self) -> None:
        """A misspelt option is an error and never ignored (`extra="forbid"`)."""
        with pytest.raises(ValidationError):
            self.plugin.Options.model_validate({"no_such_option": 1})


async def _wait_until_asked(run: Run) -> None:
    """Wait until the run waits for a person."""
    async for event in run.events():
        if event.kind == "human_check_required":
            return
    raise AssertionError(f"the run ended and asked nobody: {(await run.record()).reason}")


async def _answer(manager: RunManager, run: Run, word: str) -> None:
    """Answer the question that is open, as soon as there is one."""
    async for _ in manager.store.changes(run.id):
        if asked := await run.questions():
            assert await run.answer(asked[0].id, word)
            return


async def _end(run: Run) -> str:
    """How the run ends, by its events."""
    async for _ in run.events():
        pass
    return (await run.record()).status


def _processes() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))
