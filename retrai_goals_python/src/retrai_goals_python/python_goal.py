"""What the goals of this distribution have in common: the environment of the project's Python."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from retrai_core import GoalBase, RunContext, Suspicion
from retrai_goal_support import FolderOptions

from .environment.audit import audit_environment
from .environment.probing import ProbedEnvironment, packages_fingerprint, probe_environment

PythonOptions = TypeVar("PythonOptions", bound=FolderOptions)


class PythonGoal(GoalBase[PythonOptions], Generic[PythonOptions]):
    """A goal whose check depends on what the project's environment holds."""

    runner: ClassVar[str]
    """The module that runs the check."""

    def __init__(self, options: PythonOptions, context: RunContext) -> None:
        super().__init__(options, context)
        self._environment: ProbedEnvironment | None = None
        self._interpreter_path: list[str] = []
        self._installed = ""

    async def probe(self) -> ProbedEnvironment | str:
        """Asked once a run: the interpreter stays, what is installed is looked at each time."""
        if self._environment is not None:
            return self._environment
        found = await probe_environment(self.context.sandbox, self.context.python, self.runner)
        if isinstance(found, ProbedEnvironment):
            self._environment, self._interpreter_path = found, found.path
            self._installed = await self.external_state(self.context.project)
        return found

    async def interpreter_path(self) -> list[str]:
        """The folders that the interpreter imports from; it is asked again when what is installed
        has changed."""
        state = await self.external_state(self.context.project)
        if state != self._installed:
            found = await probe_environment(self.context.sandbox, self.context.python, self.runner)
            self._interpreter_path = found.path if isinstance(found, ProbedEnvironment) else []
            self._installed = state
        return self._interpreter_path

    async def external_state(self, project: Path) -> str:
        found = await self.probe()
        if isinstance(found, str):
            return found
        digest = await asyncio.to_thread(packages_fingerprint, found.path)
        return f"{self.context.python} {found.python} {digest}"

    async def audit_environment(self, project: Path, since_s: float) -> Sequence[Suspicion]:
        found = await self.probe()
        if isinstance(found, str):
            return ()
        python = self.context.python
        return await asyncio.to_thread(audit_environment, found, python, project, since_s)
