"""For authors of retrai plugins: each contract as a class of tests to inherit, and fixtures.

Names are loaded when they are first used: the provider `scripted` lives in this package too, and a
run that uses it must not import pytest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .bench import Bench
    from .conformance.agent import AgentConformance
    from .conformance.engine import EngineConformance, EngineTests
    from .conformance.frontend import FrontendConformance
    from .conformance.goal import GoalConformance
    from .conformance.hook import HookConformance
    from .conformance.llm import LLMProviderConformance
    from .conformance.memory import MemoryStoreConformance
    from .conformance.sandbox import SandboxConformance
    from .conformance.sink import EventSinkConformance
    from .conformance.store import RunStoreConformance, RunStoreTests
    from .conformance.tool import EndlessCall, ToolConformance
    from .conformance.tool_observed import ToolExample
    from .fake_llm_server import FakeLLMServer
    from .overriding import NotApplicable, overrides
    from .project import FinishedRun, RetraiProject
    from .script import ScriptedModel
    from .turns import Turn, call, say

_HOME = {
    "bench": ("Bench",),
    "conformance.agent": ("AgentConformance",),
    "conformance.engine": ("EngineConformance", "EngineTests"),
    "conformance.frontend": ("FrontendConformance",),
    "conformance.goal": ("GoalConformance",),
    "conformance.hook": ("HookConformance",),
    "conformance.llm": ("LLMProviderConformance",),
    "conformance.memory": ("MemoryStoreConformance",),
    "conformance.sandbox": ("SandboxConformance",),
    "conformance.sink": ("EventSinkConformance",),
    "conformance.store": ("RunStoreConformance", "RunStoreTests"),
    "conformance.tool": ("EndlessCall", "ToolConformance"),
    "conformance.tool_observed": ("ToolExample",),
    "fake_llm_server": ("FakeLLMServer",),
    "overriding": ("NotApplicable", "overrides"),
    "project": ("FinishedRun", "RetraiProject"),
    "script": ("ScriptedModel",),
    "turns": ("Turn", "call", "say"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "AgentConformance",
    "Bench",
    "EndlessCall",
    "EngineConformance",
    "EngineTests",
    "EventSinkConformance",
    "FakeLLMServer",
    "FinishedRun",
    "FrontendConformance",
    "GoalConformance",
    "HookConformance",
    "LLMProviderConformance",
    "MemoryStoreConformance",
    "NotApplicable",
    "RetraiProject",
    "RunStoreConformance",
    "RunStoreTests",
    "SandboxConformance",
    "ScriptedModel",
    "ToolConformance",
    "ToolExample",
    "Turn",
    "__version__",
    "call",
    "overrides",
    "say",
]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)
