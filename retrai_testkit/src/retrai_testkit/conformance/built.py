"""What the contracts share of the plugins that a run builds: options, one instance, an end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel, ValidationError

from retrai_core.plugins.answers import checked_answers
from retrai_core.plugins.describe import describe_plugin

from ..bench import Bench
from ..footprint import Footprint
from .plugin import PluginConformance

T = TypeVar("T")
_KEPT = pytest.StashKey[dict[str, Any]]()


class BuiltConformance(PluginConformance):
    """The contract of options and of the life of an instance.

    Attributes:
        options: the options that the examples are tried with; `plugin_options` is a fixture, for
            options that need another fixture.
        bad_options: options that must be refused, each a mapping.
        patience_s: seconds after which a single use is given up.
    """

    options: Mapping[str, Any] = {}
    bad_options: tuple[Mapping[str, Any], ...] = ()
    patience_s: float = 60.0

    @pytest.fixture
    def plugin_options(self) -> Mapping[str, Any]:
        """The options that the examples are tried with."""
        return self.options

    @pytest.fixture
    def kept(self, request: pytest.FixtureRequest) -> dict[str, Any]:
        """What the tests of one class share of a thing that takes long."""
        node = request.node.getparent(pytest.Class)
        return node.stash.setdefault(_KEPT, {}) if node is not None else {}

    def test_every_option_is_documented(self) -> None:
        """Each option has a description: `Field(description=...)` or a string below it."""
        described = describe_plugin(self.kind, self.plugin).options
        silent = [name for name, option in described.items() if not option.description]
        assert not silent, f"without a description: {', '.join(silent)}"

    def test_every_default_is_a_valid_value(self, plugin_options: Mapping[str, Any]) -> None:
        """What an option is when it is left out may also be written out."""
        model: type[BaseModel] = self.plugin.Options
        built = model.model_validate(plugin_options)
        model.model_validate(built.model_dump())

    def test_an_unknown_option_is_refused(self, plugin_options: Mapping[str, Any]) -> None:
        """A misspelt option is an error and never ignored (`extra="forbid"`)."""
        with pytest.raises(ValidationError):
            self.plugin.Options.model_validate({**plugin_options, "no_such_option": 1})

    def test_bad_options_are_refused(self, plugin_options: Mapping[str, Any]) -> None:
        """Values that make no sense are refused when they are read, not in the middle of a run."""
        for bad in self.bad_options:
            with pytest.raises(ValidationError):
                self.plugin.Options.model_validate({**plugin_options, **bad})

    def test_building_and_closing_leaves_nothing_behind(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Building does no work; what is closed, also twice, leaves no thread and no process."""

        async def use(bench: Bench, plugin: Any) -> None:
            assert not bench.uses, "the workspace or the sandbox was used before any work"
            await plugin.aclose()

        before = Footprint(self.package)
        self.drive(tmp_path, plugin_options, use)
        self.require_unchanged(before.changes())

    def write_project(self, folder: Path) -> None:
        """Write the project that the examples are tried on; nothing when left out."""

    def drive(
        self,
        base: Path,
        options: Mapping[str, Any],
        use: Callable[[Bench, Any], Awaitable[T]],
        *,
        write: Callable[[Path], object] | None = None,
    ) -> T:
        """Build the plugin in a new context, use it, close it.

        Args:
            base: a folder; the project is `base/project`.
            options: the plugin's options.
            use: what to do with the context and the plugin.
            write: writes the project; `write_project` when left out.
        """

        async def work() -> T:
            async with asyncio.timeout(self.patience_s), self.prepared(base, write) as bench:
                plugin = self.build(bench, options)
                try:
                    return await use(bench, plugin)
                finally:
                    await plugin.aclose()

        return asyncio.run(work())

    def prepared(self, base: Path, write: Callable[[Path], object] | None = None) -> Any:
        """A bench on a project that has just been written (an async context manager)."""
        project = base / "project"
        if not project.exists():
            project.mkdir(parents=True)
            (write or self.write_project)(project)
        return Bench.open(base)

    def build(self, bench: Bench, options: Mapping[str, Any]) -> Any:
        """One instance, as a run builds it: an answer that breaks the contract is an error."""
        built = self.plugin(self.plugin.Options.model_validate(options), bench.context)
        return checked_answers(built)


async def cancelled(work: Awaitable[Any], until: Callable[[], bool]) -> None:
    """Start `work`, wait until `until()` holds, cancel it, and wait for its end.

    Raises:
        AssertionError: it ended before, or 20 s after its cancellation it has not ended.
    """
    task = asyncio.ensure_future(work)
    while not until() and not task.done():  # noqa: ASYNC110 - processes set no event
        await asyncio.sleep(0.01)
    assert not task.done(), f"it ended by itself: {task}"
    task.cancel()
    _, waiting = await asyncio.wait({task}, timeout=20)
    assert not waiting, "20 s after its cancellation it is still at work"
    with suppress(asyncio.CancelledError, Exception):
        await task
