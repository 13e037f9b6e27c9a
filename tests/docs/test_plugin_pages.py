"""The pages for authors name what the code has, with its arguments: what is not documented, or is
documented otherwise, fails here."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from packaging.version import Version

import retrai_core
from retrai_core.contracts.hooks import HookSpecs
from retrai_core.plugins.kinds import GROUP_OF
from retrai_core.plugins.requirements import accepts

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "plugins"
CONTRACTS = {
    "goal": retrai_core.GoalBase,
    "tool": retrai_core.Tool,
    "llm": retrai_core.LLMProvider,
    "memory": retrai_core.MemoryStore,
    "sandbox": retrai_core.Sandbox,
    "store": retrai_core.RunStore,
    "engine": retrai_core.Engine,
    "agent": retrai_core.Agent,
    "frontend": retrai_core.Frontend,
    "sink": retrai_core.EventSink,
}
TYPES = {
    "agent": "AgentResult StateUpdate",
    "frontend": "AgentInfo Finding FoundGoal PlannedPlugin PluginInfo RunPlan SettingInfo "
    "TextDelta UsableModel Verdict",
    "goal": "CheckReport Contradiction Environment Detection GoalResult Marker RecordedCall "
    "Suspicion",
    "tool": "Entry ToolResult",
    "llm": "AvailableModel LocalServer",
    "memory": "Insight RunOutcome Strategy",
    "sandbox": "Completed Limits View",
    "sink": "RunInfo",
    "store": "Claim JournalledResult UnreadableRun",
    "hook": "GateDecision HookAnswer ToolCall",
}
ELSEWHERE = {"AgentEvent", "PluginRecord", "RunContext"}
"""Dataclasses that are documented in the text, and as a table of attributes."""
FOR_HANDLES = {"ended", "execute_again", "is_executing", "is_to_go_on", "withdraw", "undo"}
"""Methods of `RunManager` that a `Run` uses."""


def text_of(page: str) -> str:
    return (PAGES / f"{page}.md").read_text(encoding="utf-8")


def table(page: str, heading: str) -> dict[str, list[str]]:
    """The rows of the first table below a heading: what is in backticks first -> further cells."""
    parts = re.split(rf"^## {heading}$", text_of(page), maxsplit=1, flags=re.MULTILINE)
    assert len(parts) == 2, f"{page}.md has no section `{heading}`"
    section = re.split(r"^## ", parts[1], maxsplit=1, flags=re.MULTILINE)[0]
    rows = re.findall(r"^\| `([^`]+)` \|(.*)\|$", section, re.MULTILINE)
    return {name: [cell.strip() for cell in cells.split(" | ")] for name, cells in rows}


def arguments(function: Callable[..., object]) -> Iterator[str]:
    """The names of its arguments, and of those that a typed dictionary gives."""
    for name, parameter in inspect.signature(function).parameters.items():
        given = re.fullmatch(r"Unpack\[(\w+)\]", str(parameter.annotation))
        yield from getattr(retrai_core, given[1]).__annotations__ if given else [name]


def signatures(contract: type) -> set[str]:
    """`name(argument, argument)` of every public method that a class defines itself."""
    found: set[str] = set()
    for name, value in vars(contract).items():
        function = inspect.unwrap(getattr(value, "__func__", getattr(value, "fget", value)))
        if not name.startswith("_") and inspect.isfunction(function):
            names = list(arguments(function))
            if not isinstance(value, staticmethod):
                names = names[1:]
            found.add(f"{name}({', '.join(names)})")
    return found


def is_context_manager(function: object) -> bool:
    """Whether one of its decorators is contextlib's."""
    while inspect.isfunction(function):
        if function.__code__.co_filename == contextlib.__file__:
            return True
        function = getattr(function, "__wrapped__", None)
    return False


def way_to_call(value: object) -> str:
    """What the column `async` says of a method, an attribute of its class."""
    function = getattr(value, "__func__", getattr(value, "fget", value))
    inner = inspect.unwrap(function)
    returns = str(inner.__annotations__.get("return", ""))
    is_generator = inspect.isasyncgenfunction(inner)
    if inspect.iscoroutinefunction(inner):
        return "yes"
    if "AsyncContextManager" in returns or (is_generator and is_context_manager(function)):
        return "`async with`"
    if is_generator or returns.startswith("AsyncIterator"):
        return "`async for`"
    if "Awaitable" in returns or "Coroutine" in returns:
        return "may be" if "|" in returns else "yes"
    return "no"


WITH_METHODS = {
    **{(kind, "Methods"): contract for kind, contract in CONTRACTS.items()},
    ("agent", "The steps"): retrai_core.LoopSteps,
    ("engine", "The host"): retrai_core.EngineHost,
    ("frontend", "Run"): retrai_core.Run,
    ("frontend", "RunManager"): retrai_core.RunManager,
    ("hook", "Hooks"): HookSpecs,
    ("store", "The journal"): retrai_core.Journal,
    ("tool", "The workspace"): retrai_core.Workspace,
}


@pytest.mark.parametrize(("page", "heading"), WITH_METHODS)
def test_every_method_says_whether_it_is_async(page: str, heading: str) -> None:
    contract = WITH_METHODS[page, heading]
    rows = {name.partition("(")[0]: cells[0] for name, cells in table(page, heading).items()}
    methods = {name: inspect.getattr_static(contract, name, None) for name in rows}
    assert rows == {
        name: way_to_call(value)
        if callable(value) or hasattr(value, "__func__") or hasattr(value, "fget")
        else ""
        for name, value in methods.items()
    }


def test_every_kind_has_a_page_that_the_index_links() -> None:
    index = text_of("writing")
    for kind in GROUP_OF.keys() - {"hookspec"}:  # which stands on the page of hooks
        assert (PAGES / f"{kind}.md").exists()
        assert f"]({kind}.md)" in index


@pytest.mark.parametrize("kind", CONTRACTS)
def test_every_method_of_a_contract_is_documented_with_its_arguments(kind: str) -> None:
    assert set(table(kind, "Methods")) == signatures(CONTRACTS[kind])


@pytest.mark.parametrize("kind", CONTRACTS)
def test_every_attribute_of_a_contract_is_documented(kind: str) -> None:
    assert set(table(kind, "Attributes")) == set(CONTRACTS[kind].__annotations__)


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_of_a_contract_is_documented_with_its_fields(kind: str) -> None:
    wanted = set()
    for name in TYPES[kind].split():
        fields = dataclasses.fields(getattr(retrai_core, name))
        wanted.add(f"{name}({', '.join(field.name for field in fields)})")
    assert set(table(kind, "Types")) == wanted


def test_every_public_dataclass_stands_on_a_page() -> None:
    public = [getattr(retrai_core, name) for name in retrai_core.__all__]
    classes = {it.__name__ for it in filter(inspect.isclass, public) if is_dataclass(it)}
    assert classes == set(" ".join(TYPES.values()).split()) | ELSEWHERE


def test_every_hook_and_its_arguments_are_documented() -> None:
    assert set(table("hook", "Hooks")) == signatures(HookSpecs)


def test_the_workspace_the_journal_and_the_steps_are_documented_with_their_arguments() -> None:
    assert set(table("tool", "The workspace")) == signatures(retrai_core.Workspace)
    assert set(table("store", "The journal")) == signatures(retrai_core.Journal)
    host = {"store", "state"} | signatures(retrai_core.EngineHost)
    assert set(table("engine", "The host")) == host
    assert set(table("agent", "The steps")) == signatures(retrai_core.LoopSteps)


def test_the_session_api_is_documented_with_its_arguments_and_fields() -> None:
    of_manager = {
        signature
        for signature in signatures(retrai_core.RunManager) - signatures(retrai_core.EngineHost)
        if signature.partition("(")[0] not in FOR_HANDLES
    }
    assert set(table("frontend", "RunManager")) == of_manager
    assert set(table("frontend", "Run")) == signatures(retrai_core.Run)
    for model in (retrai_core.RunRequest, retrai_core.Question):
        assert set(table("frontend", model.__name__)) == set(model.model_fields)


def test_every_attribute_of_the_context_is_documented() -> None:
    fields = {field.name for field in dataclasses.fields(retrai_core.RunContext)}
    inner = {name for name in fields if name.endswith("_part")} | {"on_event"}
    properties = {"sandbox", "goal", "provider"}
    wanted = (
        fields - inner
        | properties
        | {
            "publish(kind, payload)",
            "model(tools)",
            "call_tools(message)",
            "ask(key, text, choices, takes_text, data, kind)",
            "progress(name, data)",
            "chat_model(name, temperature, api_key)",
            "redact(text)",
        }
    )
    assert set(table("writing", "The run's context")) == wanted


def test_every_event_kind_is_documented_with_what_is_published() -> None:
    documented = {
        kind: set(re.findall(r"`(\w+)`", cells[0]))
        for kind, cells in table("events", "Kinds").items()
    }
    assert set(documented) == set(retrai_core.EVENT_KINDS)
    assert documented == published_keys(ROOT / "retrai_core" / "src")


def published_keys(folder: Path) -> dict[str, set[str]]:
    """The payload keys by kind, from every call in the sources that publishes an event."""
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name not in ("publish", "_publish", "_event"):
                continue
            kinds = [
                argument.value
                for argument in node.args
                if isinstance(argument, ast.Constant) and argument.value in retrai_core.EVENT_KINDS
            ]
            keys = {keyword.arg for keyword in node.keywords if keyword.arg}
            for kind in kinds:
                found.setdefault(kind, set()).update(keys)
    return found


def test_every_public_name_is_documented() -> None:
    section = text_of("stability").partition("## Public names")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(names) == sorted(retrai_core.__all__)


def test_the_table_of_versions_is_what_the_api_check_says() -> None:
    section = text_of("stability").partition("## Core and plugins")[2]
    heads = re.findall(r"core (\d+\.\d+\.\d+)", section.partition("|---")[0])
    assert any(Version(head) == Version(retrai_core.__version__) for head in heads)
    rows = re.findall(r"^\| `([^`]+)` \|(.*)\|$", section, re.MULTILINE)
    assert len(rows) >= 3
    for needed, cells in rows:
        said = [cell.strip() for cell in cells.split("|")]
        fits = ["used" if accepts(needed, head) else "incompatible" for head in heads]
        assert said == fits, needed


def test_every_option_of_every_first_party_plugin_is_documented() -> None:
    spec = spec_from_file_location("render_options", ROOT / "docs" / "render_options.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(module.manifests()) >= 9
    assert text_of("options") == module.render(), "write it again: python docs/render_options.py"
