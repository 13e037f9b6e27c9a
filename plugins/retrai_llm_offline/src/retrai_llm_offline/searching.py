"""Starts the search's worker in the run's sandbox, with the project's own interpreter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from retrai_core import Limits, RunContext, ToolError

from .answer import Answer, parse

WORKER = Path(__file__).resolve().parent / "worker"
SPARE_S = 60.0
OUTPUT_BYTES = 8_000_000


class Searcher:
    """Searches the project of one run.

    Args:
        context: the run.
        cpu_s: processor seconds of one search.
        wall_s: seconds on the clock of one search.
    """

    def __init__(self, context: RunContext, *, cpu_s: float, wall_s: float) -> None:
        self.context = context
        self.cpu_s = cpu_s
        self.wall_s = wall_s

    async def search(self, state: Mapping[str, Any]) -> Answer:
        """One search over the project as it is now; `state` is that of the search before."""
        request = json.dumps(self._request(state)).encode()
        try:
            done = await self.context.sandbox.run(
                [self.context.python, str(WORKER / "launch.py")],
                timeout_s=self.wall_s + SPARE_S,
                cwd=self.context.project,
                env={"PYTHONDONTWRITEBYTECODE": "1"},
                limits=Limits(output_bytes=OUTPUT_BYTES),
                stdin=request,
                readable=[WORKER],
            )
        except ToolError as error:
            return Answer(end="no-answer", problem=str(error))
        answer = parse(done.stdout)
        if answer is not None:
            return answer
        if done.timed_out:
            problem = f"it gave no answer in {self.wall_s + SPARE_S:g} s"
        else:
            lines = done.stderr.strip().splitlines()
            problem = f"it ended with {done.exit_code}: {lines[-1] if lines else 'no output'}"
        return Answer(end="no-answer", problem=problem)

    def _request(self, state: Mapping[str, Any]) -> dict[str, Any]:
        context = self.context
        goal = context.goal_part
        options: Any = getattr(goal, "options", None) if goal and goal.name == "pytest" else None
        folder = context.project / str(getattr(options, "path", "."))
        return {
            "root": str(context.project),
            "folder": str(folder),
            "arguments": [*getattr(options, "args", ()), *getattr(options, "targets", ())],
            "protected": list(goal.protected(context.project)) if goal else [],
            "cpu_s": self.cpu_s,
            "wall_s": self.wall_s,
            "state": dict(state),
        }
