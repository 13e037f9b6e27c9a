"""What `cargo-test` and `go-test` share: one program that builds and tests a folder's project."""

from __future__ import annotations

import asyncio
import shutil
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from retrai_core import Completed, GoalBase, GoalResult, RunContext, ToolError
from retrai_goal_support import missing_folder, without_files

from .place import PlaceOptions

SHORT_TIMEOUT_S = 120.0
"""For what builds nothing and runs no test, in seconds."""
PlaceT = TypeVar("PlaceT", bound=PlaceOptions)
"""The options of a goal that builds on `ToolChainGoal`."""


class ToolChainGoal(GoalBase[PlaceT]):
    """A goal that the first of its `programs` decides."""

    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})
    manifest: ClassVar[str]
    """The file that makes a folder a project (`go.mod`)."""
    how_to_install: ClassVar[str]
    """What a person without the program is told."""
    asks_version: ClassVar[str]
    """The argument that prints the version, which begins with the program's name."""

    def __init__(self, options: PlaceT, context: RunContext) -> None:
        super().__init__(options, context)
        self._version: str | None = None

    @abstractmethod
    async def start(
        self, folder: Path, arguments: Sequence[str], timeout_s: float = SHORT_TIMEOUT_S
    ) -> Completed:
        """Start the program in a folder.

        Raises:
            ToolError: it cannot be started.
        """

    @abstractmethod
    def is_test(self, path: str) -> bool:
        """Whether a file, by its relative path, is a test that could change what others do."""

    async def ready(self) -> str | None:
        project, path = self.context.project, self.options.path
        problem = await asyncio.to_thread(missing_folder, project, path)
        if problem:
            return problem
        folder = project / path
        if not await asyncio.to_thread((folder / self.manifest).is_file):
            return (
                f"there is no {self.manifest} in {folder}; name its folder with --option path=..."
            )
        program = self.programs[0]
        if shutil.which(program) is None:
            return f"{program} is not installed; {self.how_to_install}"
        version = await self.version()
        return None if version.startswith(f"{program} ") else f"{program} cannot be run: {version}"

    async def check_without(
        self, state: Mapping[str, Any], cwd: Path, paths: Sequence[str]
    ) -> GoalResult | None:
        tests = [path for path in paths if self.is_test(path)]
        if not tests:
            return None
        with without_files(cwd, tests):
            return await self.check(state, cwd)

    async def external_state(self, project: Path) -> str:
        return await self.version()

    async def version(self) -> str:
        """What the program says of itself, asked once a run; why it says nothing."""
        if self._version is None:
            try:
                done = await self.start(self.context.project, [self.asks_version])
                self._version = (done.stdout or done.stderr).strip()
            except ToolError as error:
                self._version = str(error)
        return self._version
