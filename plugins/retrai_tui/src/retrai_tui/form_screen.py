"""The form of a new run: what was detected and why, the model, limits."""

from __future__ import annotations

import json
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Checkbox, Footer, Input, Label, Select, Static

from retrai_core import (
    AgentInfo,
    FoundGoal,
    PluginInfo,
    RetraiError,
    RunRequest,
    TrustRequired,
    UsableModel,
    UsageError,
)

from .dialogs import ChoiceDialog
from .screen import RetraiScreen
from .text import block, line_of

Prepare = Callable[..., Awaitable[RunRequest]]
PROJECT_FILE = ".retrai.yml"
_DEMO_FOLDER = "retrai-demo"
_NO_MODEL = "no key is set, no server answers on this machine: only `offline` works"
_FIELDS = {
    "iterations": ("Iterations", "max_iterations"),
    "dollars": ("US dollars", "max_cost"),
}
"""By the id of a field: its label, and the setting."""


class CheckBox(Checkbox):
    """Whose state is a letter, not a colour."""

    @property
    def _button(self) -> Content:
        return Content("[x]" if self.value else "[ ]")


class FormScreen(RetraiScreen):
    """Asks what a new run needs, with what the project and the settings say filled in.

    Args:
        goal: the goal that is selected at first; None: the likeliest.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Runs"),
        Binding("ctrl+s", "start", "Start", priority=True),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", "Next field"),
        Binding("ctrl+q", "app.quit", "Quit"),
    ]

    def __init__(self, goal: str | None) -> None:
        super().__init__()
        self._goal = goal
        self._settings: dict[str, Any] = {}
        self._model = ""
        self._has_file = True
        self._has_looked = False
        self._is_starting = False
        self._questions: dict[str, tuple[str, str]] = {}

    def _select(self, name: str) -> Select[str]:
        return cast("Select[str]", self.query_one(name))

    def compose(self) -> ComposeResult:
        """The parts."""
        project = self._app.project
        self._has_file = (project / PROJECT_FILE).exists()
        yield Static(line_of("new run ", "bold").append_text(line_of(f"in {project}")), id="head")
        with VerticalScroll(id="form", can_focus=False):
            yield Static(Text("looking at the project ...", style="dim"), id="found")
            with Horizontal(classes="field", id="agents"):
                yield Label("Agent")
                agent: Select[str] = Select([], prompt="goal-loop", id="agent", compact=True)
                yield agent
            with Horizontal(classes="field"):
                yield Label("Goal")
                goal: Select[str] = Select([], prompt="choose a goal", id="goal", compact=True)
                yield goal
            with Horizontal(classes="field"):
                yield Label("Options")
                yield Input(placeholder="of the goal: KEY=VALUE ...", id="options", compact=True)
            with Horizontal(classes="field"):
                yield Label("Model")
                model: Select[str] = Select(
                    [], prompt="as the settings say", id="model", compact=True
                )
                yield model
            with Horizontal(classes="field"):
                yield Label("or its name")
                yield Input(placeholder="another model", id="other_model", compact=True)
            for name, (label, _) in _FIELDS.items():
                with Horizontal(classes="field"):
                    yield Label(label)
                    yield Input(placeholder="no limit", id=name, compact=True)
            with Horizontal(classes="field"):
                yield Label("Task")
                yield Input(placeholder="more text for the model", id="task", compact=True)
            yield CheckBox("ask before each new iteration", id="hitl", compact=True)
            if not self._has_file:
                yield CheckBox(f"keep this in {PROJECT_FILE}", id="keep", compact=True)
            with Horizontal(id="buttons"):
                yield Button(Content("[ Start ]"), id="start", compact=True, variant="primary")
                yield Button(Content("[ Try the demo project ]"), id="demo", compact=True)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Look at the project."""
        self.query_one("#demo").display = False
        self.query_one("#agents").display = False
        self._look()

    @work(exclusive=True)
    async def _look(self) -> None:
        manager, project = self._app.manager, self._app.project
        try:
            found, goals = await manager.detect(project), await manager.goals()
            rows = await manager.settings(project)
        except (RetraiError, OSError) as error:
            self.query_one("#found", Static).update(block(str(error), "red"))
            return
        self._settings = {row.name: row.value for row in rows}
        # A default is left open: each agent has its own.
        given = (row.value for row in rows if row.name == "model" and row.origin != "default")
        self._model = str(next(given, ""))
        self._show_goals(found, goals)
        for name, (_, setting) in _FIELDS.items():
            value, field = self._settings.get(setting), self.query_one(f"#{name}", Input)
            field.value = field.value or ("" if value is None else str(value))
        if not self.query_one("#hitl", Checkbox).value:
            self.query_one("#hitl", Checkbox).value = bool(self._settings.get("hitl_enabled"))
        self._has_looked = True
        self.query_one("#goal").focus()
        try:
            self._show_models(await manager.models())
            self._show_agents(await manager.agents(project))
        except (RetraiError, OSError) as error:
            self._app.say(error)

    def _show_goals(self, found: Sequence[FoundGoal], goals: Sequence[PluginInfo]) -> None:
        named = self._settings.get("goal")
        own = cast("dict[str, object]", self._settings.get("goals") or {})
        evidence: dict[str, str] = {}
        for each in found:
            evidence.setdefault(each.name, f"found by {each.evidence}")
        known = {goal.name: goal.summary for goal in goals if not goal.error}
        first = [named] if isinstance(named, str) else []
        names: list[str] = list(
            dict.fromkeys([*first, *own, *(each.name for each in found), *known])
        )
        select = self._select("#goal")
        select.set_options(
            (line_of(f"{name}  {evidence.get(name) or known.get(name, '')}"), name)
            for name in names
        )
        chosen = next(iter([*([self._goal] if self._goal else []), *first, *evidence]), None)
        if chosen in names:
            select.value = chosen
        if found:
            lines = [f"{each.name}: found by {each.evidence}" for each in found[:4]]
        else:
            lines = ["no sign of a goal in this project: choose one, or try the demo project"]
            self.query_one("#demo").display = True
        if named is not None:
            lines.insert(0, f"the settings name {named}")
        self.query_one("#found", Static).update(block("\n".join(lines), "dim"))

    def _show_models(self, models: Sequence[UsableModel]) -> None:
        select = self._select("#model")
        select.set_options(
            (line_of(f"{model.model}  {model.source}"), model.model) for model in models
        )
        if self._model in {model.model for model in models}:
            select.value = self._model
        found = self.query_one("#found", Static)
        keys = sorted({model.source for model in models if not model.is_local and model.source})
        line = f"models: {'; '.join(keys)}" if keys else f"models: {_NO_MODEL}"
        found.update(Text("\n").join([cast("Text", found.content), block(line, "dim")]))

    def _show_agents(self, agents: Sequence[AgentInfo]) -> None:
        """Those that need no goal; without any, nothing is asked."""
        usable = [one for one in agents if one.status == "ok" and not one.requires_goal]
        self._questions = {one.name: _question_of(one.input) for one in usable}
        self._select("#agent").set_options(
            (line_of(f"{one.name}  {one.summary}"), one.name) for one in usable
        )
        self.query_one("#agents").display = bool(usable)

    @on(Select.Changed, "#agent")
    def _choose_agent(self) -> None:
        """An agent without a goal has its question in the place of the task."""
        name = self._agent()
        for field in ("#goal", "#options", "#hitl"):
            self.query_one(field).disabled = name is not None
        _, about = self._questions.get(name or "", ("", "more text for the model"))
        self.query_one("#task", Input).placeholder = about

    def _agent(self) -> str | None:
        name = self._select("#agent").value
        return name if isinstance(name, str) else None

    def action_leave(self) -> None:
        """To the list of runs."""
        self._app.show_runs()

    @on(Input.Submitted)
    def _next_field(self) -> None:
        self.focus_next()

    @on(Button.Pressed, "#start")
    def _press_start(self) -> None:
        self.action_start()

    @work(group="start")
    async def action_start(self) -> None:
        """Start the run that the form says."""
        if not self._has_looked:
            self._app.note("the project is still being looked at")
            return
        try:
            given = self._given()
        except RetraiError as error:
            self._app.say(error)
            return
        manager, project = self._app.manager, self._app.project
        await self._start(partial(manager.prepare, project, **given), given)

    @on(Button.Pressed, "#demo")
    @work(group="start")
    async def _start_demo(self) -> None:
        folder = self._app.project / _DEMO_FOLDER
        await self._start(partial(self._app.manager.demo, folder))

    async def _start(self, prepare: Prepare, given: Mapping[str, Any] | None = None) -> None:
        """Start one run; what was given is kept in the project's file where that was asked for."""
        if self._is_starting:
            return
        self._is_starting = True
        try:
            request = await self._prepared(prepare)
            if request is not None:
                self._keep(given or {})
                self._app.show_started(await self._app.manager.submit(request))
                return
        except (RetraiError, OSError) as error:
            self._app.say(error)
        self._is_starting = False

    async def _prepared(self, prepare: Prepare) -> RunRequest | None:
        """The request, once the user agrees to what the project's own file wants run."""
        # Whoever starts it here sits before the screen, and answers.
        more: dict[str, Any] = {"attended": True, "interactive": True}
        while True:
            try:
                return await prepare(**more)
            except TrustRequired as error:
                items = [
                    line_of(f"{name}: ", "bold").append_text(line_of(value))
                    for name, value in error.items.items()
                ]
                for item in items:
                    item.no_wrap = False
                dialog = ChoiceDialog(
                    f"{PROJECT_FILE} of this project sets what needs your consent",
                    items,
                    {"": "Do not start", "agree": "Agree, until one of these changes"},
                )
                given = await self._app.push_screen_wait(dialog)
                if given is None or given.choice != "agree":
                    return None
                more["trust"] = error.digest

    def _given(self) -> dict[str, Any]:
        """The settings that the form says.

        Raises:
            UsageError: the options are none.
        """
        goal = self._select("#goal").value
        model = self._select("#model").value
        other = self.query_one("#other_model", Input).value.strip()
        given: dict[str, Any] = {
            "goal": goal if isinstance(goal, str) else None,
            "model": other or (model if isinstance(model, str) else None),
            "hitl_enabled": self.query_one("#hitl", Checkbox).value,
            "task": self.query_one("#task", Input).value.strip() or None,
            "options": _options(self.query_one("#options", Input).value) or None,
        }
        agent = self._agent()
        if agent is not None:
            field, _ = self._questions[agent]
            text = given.pop("task")
            given = {"agent": agent, "model": given["model"], "input": {field: text or ""}}
        for name, (_, setting) in _FIELDS.items():
            given[setting] = self.query_one(f"#{name}", Input).value.strip() or "none"
            if given[setting] == "none" and self._settings.get(setting) is None:
                given[setting] = None
        return given

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Write the project's file where that was asked for."""
        boxes = self.query("#keep").results(Checkbox)
        if not any(box.value for box in boxes):
            return
        names = ("goal", "options", "model", "max_iterations", "max_cost", "hitl_enabled")
        lines = [
            f"{name}: {json.dumps(_as_json(given[name]), ensure_ascii=False)}\n"
            for name in names
            if given.get(name) is not None
        ]
        path: Path = self._app.project / PROJECT_FILE
        with path.open("x", encoding="utf-8") as file:
            file.write("# Written by `retrai tui`; `retrai config show` has every value.\n")
            file.writelines(lines)


def _question_of(schema: object) -> tuple[str, str]:
    """The first text that an agent's input wants: its name, and what it is about."""
    properties = cast("Mapping[str, Mapping[str, Any]]", _of(schema, "properties"))
    for name, field in properties.items():
        if field.get("type") == "string":
            return name, str(field.get("description") or name)
    return "task", "what to do"


def _of(schema: object, name: str) -> object:
    found = cast("Mapping[str, object]", schema).get(name) if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _options(text: str) -> dict[str, Any]:
    """`KEY=VALUE ...`, quoted as in a shell; a value may be JSON."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"the options {text!r} are not quoted in pairs: {error}") from error
    options: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise UsageError(f"the options take KEY=VALUE, not {word!r}")
        options[name] = _as_json(value)
    return options


def _as_json(value: Any) -> Any:
    """What the text stands for: `3` is a number, `[1, 2]` a list."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
