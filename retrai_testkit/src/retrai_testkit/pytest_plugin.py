"""The fixtures, known to pytest wherever this distribution is installed.

What they need is imported when one is used: pytest loads this module in every session.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .fake_llm_server import FakeLLMServer
    from .project import RetraiProject
    from .script import ScriptedModel

# In an editable installation pytest does not find these modules by itself.
pytest.register_assert_rewrite("retrai_testkit.conformance")


@pytest.fixture
def retrai_project(tmp_path: Path) -> RetraiProject:
    """A temporary project to run retrai on, with a state folder of its own."""
    from .project import RetraiProject

    return RetraiProject(tmp_path / "retrai")


@pytest.fixture
def scripted_model() -> ScriptedModel:
    """An empty script: `scripted_model.play(call("file_read", path="a.py"), say("done"))`."""
    from .script import ScriptedModel

    return ScriptedModel()


@pytest.fixture
def fake_llm_server() -> Iterator[FakeLLMServer]:
    """An OpenAI-style server on the loopback, with an empty script."""
    from .fake_llm_server import FakeLLMServer

    with FakeLLMServer() as server:
        yield server
