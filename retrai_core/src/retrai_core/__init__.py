"""The public API of retrai's core: what plugin authors and callers may rely on.

Names are loaded when they are first used, so that importing this package is cheap; everything that
does not stand in `__all__` is private.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .agents.goal_loop.graph import GoalLoopAgent
    from .agents.goal_loop.state import AgentState
    from .agents.goal_loop.steps import LoopSteps
    from .cli.asking import somebody_watches
    from .cli.output import echo, visible
    from .config.model import RunConfig
    from .contracts.agent import Agent, AgentInput, AgentOptions, AgentResult, StateUpdate
    from .contracts.context import RunContext
    from .contracts.engine import Engine, EngineHost, EngineOptions
    from .contracts.event_sink import EventSink, RunInfo, SinkOptions
    from .contracts.frontend import Frontend
    from .contracts.goal import (
        CaseOutcome,
        CheckReport,
        Contradiction,
        Detection,
        Environment,
        GoalBase,
        GoalOptions,
        GoalResult,
        Marker,
        RecordedCall,
        Suspicion,
    )
    from .contracts.hooks import GateDecision, ToolCall, hookimpl, hookspec
    from .contracts.llm import GAVE_UP, AvailableModel, LLMOptions, LLMProvider
    from .contracts.local_servers import LocalServer, find_local_servers, local_address
    from .contracts.mcp_server import McpServer
    from .contracts.memory import Insight, MemoryOptions, MemoryStore, RunOutcome, Strategy
    from .contracts.plan import Finding, PlannedPlugin, RunPlan
    from .contracts.question import APPROVE, REJECT, Answer, Choice, Question
    from .contracts.record import RunRecord
    from .contracts.sandbox import (
        CommandOptions,
        Completed,
        Limits,
        Sandbox,
        SandboxOptions,
        View,
    )
    from .contracts.store import (
        Cancel,
        Claim,
        Command,
        Configure,
        Journal,
        JournalledResult,
        Resume,
        RunFilter,
        RunStore,
        SentCommand,
        StoreOptions,
        UnreadableRun,
    )
    from .contracts.tool import Tool, ToolArgs, ToolOptions, ToolResult
    from .contracts.verdict import Verdict
    from .contracts.workspace import Entry, Workspace
    from .errors import (
        ClaimLostError,
        ModelError,
        PluginError,
        RetraiError,
        RunNotFoundError,
        StateFolderError,
        ToolError,
        TrustRequired,
        UsageError,
        WorkspaceError,
        WorkspaceLockedError,
    )
    from .events import EVENT_KINDS, AgentEvent, EventKind
    from .plugins.catalog import Catalog
    from .plugins.describe import describe_plugin
    from .plugins.entry import ManifestEntry, OptionEntry
    from .plugins.kinds import GROUP_OF, Kind
    from .plugins.lock import current_lock, require_locked
    from .plugins.missing import missing_requirements
    from .plugins.own_hooks import HookAnswer, OwnHooks
    from .plugins.package import find_package
    from .plugins.record import PluginRecord
    from .runs.agent_graph import AgentInfo, GraphEdge
    from .runs.handle import Run
    from .runs.live import TextDelta
    from .runs.manager import RunManager
    from .runs.queries import FoundGoal, KeyedModels, PluginInfo, SettingInfo
    from .runs.request import RunRequest
    from .runs.session import open_workbench
    from .runs.usable_models import UsableModel
    from .storage.checkpoints import Checkpoints
    from .storage.files import FilesStore
    from .verification.clean_copy import make_clean_copy, without_files
    from .workspace.portable_tree import tree_digest, tree_files
    from .workspace.processes.runner import ProcessOptions, ProcessRunner, command_words
    from .workspace.safe_paths import SafeWorkspace
    from .workspace.temporary import fresh_folder, remove_tree, temporary_prefix

_HOME = {
    "contracts.agent": ("Agent", "AgentInput", "AgentOptions", "AgentResult", "StateUpdate"),
    "contracts.context": ("RunContext",),
    "contracts.event_sink": ("EventSink", "RunInfo", "SinkOptions"),
    "contracts.frontend": ("Frontend",),
    "contracts.goal": (
        "CaseOutcome",
        "CheckReport",
        "Contradiction",
        "Detection",
        "Environment",
        "GoalBase",
        "GoalOptions",
        "GoalResult",
        "Marker",
        "RecordedCall",
        "Suspicion",
    ),
    "contracts.hooks": ("GateDecision", "ToolCall", "hookimpl", "hookspec"),
    "contracts.llm": ("GAVE_UP", "AvailableModel", "LLMOptions", "LLMProvider"),
    "contracts.local_servers": ("LocalServer", "find_local_servers", "local_address"),
    "contracts.mcp_server": ("McpServer",),
    "contracts.memory": ("Insight", "MemoryOptions", "MemoryStore", "RunOutcome", "Strategy"),
    "contracts.question": ("APPROVE", "REJECT", "Answer", "Choice", "Question"),
    # For engines.
    "contracts.engine": ("Engine", "EngineHost", "EngineOptions"),
    "contracts.sandbox": (
        "CommandOptions",
        "Completed",
        "Limits",
        "Sandbox",
        "SandboxOptions",
        "View",
    ),
    "cli.asking": ("somebody_watches",),
    "cli.output": ("echo", "visible"),
    "contracts.store": (
        "Cancel",
        "Claim",
        "Command",
        "Configure",
        "Journal",
        "JournalledResult",
        "Resume",
        "RunFilter",
        "RunStore",
        "SentCommand",
        "StoreOptions",
        "UnreadableRun",
    ),
    "contracts.tool": ("Tool", "ToolArgs", "ToolOptions", "ToolResult"),
    "contracts.workspace": ("Entry", "Workspace"),
    "errors": (
        "ClaimLostError",
        "ModelError",
        "PluginError",
        "RetraiError",
        "RunNotFoundError",
        "StateFolderError",
        "ToolError",
        "TrustRequired",
        "UsageError",
        "WorkspaceError",
        "WorkspaceLockedError",
    ),
    "events": ("EVENT_KINDS", "AgentEvent", "EventKind"),
    # For tools of plugin authors: what is installed, and what manifests say.
    "plugins.catalog": ("Catalog",),
    "plugins.describe": ("describe_plugin",),
    "plugins.entry": ("ManifestEntry", "OptionEntry"),
    "plugins.kinds": ("GROUP_OF", "Kind"),
    "plugins.lock": ("current_lock", "require_locked"),
    "plugins.missing": ("missing_requirements",),
    "plugins.package": ("find_package",),
    "plugins.record": ("PluginRecord",),
    "contracts.plan": ("Finding", "PlannedPlugin", "RunPlan"),
    # For distributions that call hooks of their own.
    "plugins.own_hooks": ("HookAnswer", "OwnHooks"),
    # For goals that try something which changes the project.
    "verification.clean_copy": ("make_clean_copy", "without_files"),
    # For agents: they import langgraph.
    "agents.goal_loop.graph": ("GoalLoopAgent",),
    "agents.goal_loop.state": ("AgentState",),
    "agents.goal_loop.steps": ("LoopSteps",),
    # For frontends and callers.
    "runs.agent_graph": ("AgentInfo", "GraphEdge"),
    "runs.manager": ("RunManager",),
    "runs.usable_models": ("UsableModel",),
    "runs.handle": ("Run",),
    "runs.request": ("RunRequest",),
    "runs.live": ("TextDelta",),
    "runs.queries": ("FoundGoal", "KeyedModels", "PluginInfo", "SettingInfo"),
    "contracts.verdict": ("Verdict",),
    "contracts.record": ("RunRecord",),
    "config.model": ("RunConfig",),
    "storage.checkpoints": ("Checkpoints",),
    "storage.files": ("FilesStore",),
    "runs.session": ("open_workbench",),
    # For those who compare the tree of a run with another.
    "workspace.portable_tree": ("tree_digest", "tree_files"),
    # For sandboxes.
    "workspace.processes.runner": ("ProcessOptions", "ProcessRunner", "command_words"),
    "workspace.safe_paths": ("SafeWorkspace",),
    "workspace.temporary": ("fresh_folder", "remove_tree", "temporary_prefix"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "APPROVE",
    "EVENT_KINDS",
    "GAVE_UP",
    "GROUP_OF",
    "REJECT",
    "Agent",
    "AgentEvent",
    "AgentInfo",
    "AgentInput",
    "AgentOptions",
    "AgentResult",
    "AgentState",
    "Answer",
    "AvailableModel",
    "Cancel",
    "CaseOutcome",
    "Catalog",
    "CheckReport",
    "Checkpoints",
    "Choice",
    "Claim",
    "ClaimLostError",
    "Command",
    "CommandOptions",
    "Completed",
    "Configure",
    "Contradiction",
    "Detection",
    "Engine",
    "EngineHost",
    "EngineOptions",
    "Entry",
    "Environment",
    "EventKind",
    "EventSink",
    "FilesStore",
    "Finding",
    "FoundGoal",
    "Frontend",
    "GateDecision",
    "GoalBase",
    "GoalLoopAgent",
    "GoalOptions",
    "GoalResult",
    "GraphEdge",
    "HookAnswer",
    "Insight",
    "Journal",
    "JournalledResult",
    "KeyedModels",
    "Kind",
    "LLMOptions",
    "LLMProvider",
    "Limits",
    "LocalServer",
    "LoopSteps",
    "ManifestEntry",
    "Marker",
    "McpServer",
    "MemoryOptions",
    "MemoryStore",
    "ModelError",
    "OptionEntry",
    "OwnHooks",
    "PlannedPlugin",
    "PluginError",
    "PluginInfo",
    "PluginRecord",
    "ProcessOptions",
    "ProcessRunner",
    "Question",
    "RecordedCall",
    "Resume",
    "RetraiError",
    "Run",
    "RunConfig",
    "RunContext",
    "RunFilter",
    "RunInfo",
    "RunManager",
    "RunNotFoundError",
    "RunOutcome",
    "RunPlan",
    "RunRecord",
    "RunRequest",
    "RunStore",
    "SafeWorkspace",
    "Sandbox",
    "SandboxOptions",
    "SentCommand",
    "SettingInfo",
    "SinkOptions",
    "StateFolderError",
    "StateUpdate",
    "StoreOptions",
    "Strategy",
    "Suspicion",
    "TextDelta",
    "Tool",
    "ToolArgs",
    "ToolCall",
    "ToolError",
    "ToolOptions",
    "ToolResult",
    "TrustRequired",
    "UnreadableRun",
    "UsableModel",
    "UsageError",
    "Verdict",
    "View",
    "Workspace",
    "WorkspaceError",
    "WorkspaceLockedError",
    "__version__",
    "command_words",
    "current_lock",
    "describe_plugin",
    "echo",
    "find_local_servers",
    "find_package",
    "fresh_folder",
    "hookimpl",
    "hookspec",
    "local_address",
    "make_clean_copy",
    "missing_requirements",
    "open_workbench",
    "remove_tree",
    "require_locked",
    "somebody_watches",
    "temporary_prefix",
    "tree_digest",
    "tree_files",
    "visible",
    "without_files",
]


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)
