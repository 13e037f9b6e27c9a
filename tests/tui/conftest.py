"""The application on a real manager, and a store whose runs are known."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from retrai_core import RunManager
from retrai_testkit import RetraiProject
from retrai_tui.app import RetraiApp, Start
from retrai_tui.messages import Messages

Opened = Callable[..., AbstractAsyncContextManager[Pilot[None]]]


@pytest.fixture(autouse=True)
def environment(retrai_project: RetraiProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of a command of the project, for runs of the application too."""
    for name in list(os.environ):
        if name.startswith("RETRAI_"):
            monkeypatch.delenv(name)
    for name, value in retrai_project.environment.items():
        if name != "NO_COLOR":
            monkeypatch.setenv(name, value)


@pytest.fixture
def opened(retrai_project: RetraiProject) -> Opened:
    """Opens the application on the project, in no terminal."""

    @asynccontextmanager
    async def open_it(
        project: Path | None = None, *, goal: str | None = None, run: str | None = None, **more: Any
    ) -> AsyncIterator[Pilot[None]]:
        messages = Messages()
        async with RunManager(engine="process", tell=messages.add) as manager:
            found = await manager.get(run) if run else None
            app = RetraiApp(
                manager, project or retrai_project.folder, messages, Start(goal=goal, run=found)
            )
            async with app.run_test(**{"size": (80, 24), "notifications": True, **more}) as pilot:
                yield pilot

    return open_it
