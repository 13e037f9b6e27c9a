"""How the hostile plugins are made: a wheel, a run that uses it, what is documented of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .bystander import PUT
from .wheels import Wheel

GROUPS = {
    "goal": "goals",
    "tool": "tools",
    "llm": "llms",
    "sink": "sinks",
    "hook": "hooks",
    "frontend": "frontends",
}
CORE = "retrai-core>=0.1,<0.2"
BROKEN = ("is broken",)
REINSTALL = "pip install --force-reinstall"


@dataclass(frozen=True)
class Hostile:
    """One row of the table.

    Attributes:
        title: what the plugin does.
        name: of its entry point, as `plugins list` shows it.
        wheels: what is installed.
        outcome: what is documented, for people.
        status: in `plugins list`, which imports nothing.
        arguments: of the `retrai run` that uses it.
        config: of that run, as `.retrai.yml`.
        exit_code: of that run.
        says: what that run must say on the terminal.
        logged: what its run log must hold.
        bystander_exit_code: of a run that does not name it; 2 only where a gate fails closed.
    """

    title: str
    name: str
    wheels: Sequence[Wheel]
    outcome: str
    status: str = "unloaded"
    arguments: Sequence[str] = ("held", "-m", "player")
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    exit_code: int = 0
    says: Sequence[str] = ()
    logged: Sequence[str] = ()
    bystander_exit_code: int = 0

    @property
    def dist(self) -> str:
        """The distribution that the terminal must name."""
        return self.wheels[0].dist


def wheel(
    name: str,
    code: str,
    kind: str = "goal",
    *,
    dist: str = "",
    manifest: str | None = None,
    target: str = "Plugin",
    **more: Any,
) -> Wheel:
    """A wheel with one plugin, `Plugin` in its module `plugin`."""
    dist = dist or f"hostile-{name}"
    package = dist.replace("-", "_")
    group = GROUPS[kind]
    if manifest is None:
        extra = f'model_patterns = ["{name}"]\n' if kind == "llm" else ""
        manifest = f'schema = 1\n[{group}."{name}"]\nsummary = "hostile"\nneeds = []\n{extra}'
    start = "from retrai_core import *\n" if "retrai_core" not in code else ""
    entry_points = {f"retrai.{group}": [f"{name} = {package}.plugin:{target}"]}
    more.setdefault("requires", [CORE])
    return Wheel(dist, entry_points, start + code, manifest, **more)


GOAL = '''
class Plugin(GoalBase):
    """A goal that holds when a.txt says right."""
    name = "NAME"
    needs = frozenset()
    default_tools = ("bystander-put",)
    async def check(self, state, cwd):
        return GoalResult((cwd / "a.txt").read_text().strip() == "right", "looked")
    def system_prompt(self):
        return ""
'''
TOOL = '''
import asyncio, time
class Plugin(Tool):
    """A tool."""
    name = "NAME"
    description = "A tool."
    needs = frozenset()
    async def run(self, args, context):
        BODY
'''


def at_import(name: str, title: str, code: str, told: str, outcome: str, **more: Any) -> Hostile:
    """A goal that does something when it is imported."""
    made = wheel(name, code, **more)
    says = (f"goal `{name}` of {made.dist}", told, *BROKEN, "pip install")
    return Hostile(
        title, name, [made], outcome, arguments=(name, "-m", "player"), exit_code=2, says=says
    )


def tool(name: str, title: str, body: str, logged: str, outcome: str, **options: Any) -> Hostile:
    """A tool that the model calls first; then it fixes the project."""
    made = wheel(name, TOOL.replace("NAME", name).replace("BODY", body), "tool")
    config = {
        "tools": ["bystander-put", name],
        "plugins": {"player": {"turns": [[{"name": name}], [PUT]]}, name: options},
    }
    return Hostile(title, name, [made], outcome, config=config, logged=(logged,))


def hook(name: str, title: str, method: str, outcome: str, **more: Any) -> Hostile:
    """A hook plugin, which every run uses."""
    hooks = method.partition("(")[0].removeprefix("def ").strip()
    manifest = (
        f'schema = 1\n[hooks."{name}"]\nsummary = "hostile"\nneeds = []\nhooks = ["{hooks}"]\n'
    )
    code = f"import time\nclass Plugin:\n    @hookimpl\n    {method}\n"
    made = wheel(name, more.pop("code", code), "hook", manifest=more.pop("manifest", manifest))
    return Hostile(title, name, [made], outcome, **more)


SINK = """
import time
class Plugin(EventSink):
    name = "NAME"
    METHOD
    def on_event(self, event): BODY
"""


def sink(
    name: str, title: str, outcome: str, *, body: str = "pass", method: str = "", **more: Any
) -> Hostile:
    """An event sink, which every run uses."""
    code = SINK.replace("NAME", name).replace("METHOD", method).replace("BODY", body)
    return Hostile(title, name, [wheel(name, more.pop("code", code), "sink")], outcome, **more)


def provider(name: str, title: str, code: str, outcome: str, **more: Any) -> Hostile:
    """A model provider."""
    made = wheel(name, code, "llm")
    arguments = ("held", "-m", name)
    return Hostile(title, name, [made], outcome, arguments=arguments, **more)


REFUSED = "refused before the first step (2), with the command that fixes it"
FAILED = "the run ends as `error` (70), naming the plugin, its distribution and what to type"
_CHECK = 'return GoalResult((cwd / "a.txt").read_text().strip() == "right", "looked")'


def check(name: str, title: str, body: str, told: str) -> Hostile:
    """A goal whose check does something else."""
    made = wheel(name, GOAL.replace("NAME", name).replace(_CHECK, body))
    says = (
        f"goal {name} of hostile-{name} 1.0 failed: {told}",
        f"pip install --upgrade hostile-{name}",
    )
    return Hostile(
        title, name, [made], FAILED, arguments=(name, "-m", "player"), exit_code=70, says=says
    )


MODEL = """
from langchain_core.language_models import BaseChatModel
class Model(BaseChatModel):
    _llm_type = "nonsense"
    def bind_tools(self, tools, **kwargs): return self
    def _generate(self, *a, **k): return None
    async def ainvoke(self, *a, **k): return "nonsense"
class Plugin(LLMProvider):
    name = "NAME"
    model_patterns = ("NAME",)
    def create(self, model, temperature, context, api_key=None): return BODY
"""
