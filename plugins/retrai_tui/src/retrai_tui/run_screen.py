"""One run: its timeline, a detail pane, and what can be done with it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar, Literal, cast

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Footer, OptionList, RichLog, Static
from textual.widgets.option_list import Option

from retrai_core import AgentEvent, Question, RetraiError, Run, RunNotFoundError, RunRecord, visible

from .dialogs import ChoiceDialog, Field, FieldsDialog
from .lines import Lines
from .screen import RetraiScreen
from .text import (
    NOT_ENDED,
    block,
    cost,
    diff_block,
    first_line,
    goal_of,
    line_of,
    names,
    outcomes,
    seconds,
    status_text,
)
from .timeline import Timeline, check_detail

_TICK_S = 1.0
_BATCH = 200
_ABORT = "abort"
_LIMITS = {
    "max_iterations": ("Iterations", "max_iterations"),
    "max_cost": ("US dollars", "max_cost_usd"),
    "max_tokens": ("Tokens", "max_tokens"),
    "max_time": ("Seconds", "max_time_s"),
}
"""By the name that `configure` takes: the label, and the name in the record's limits."""
View = Literal["step", "failing", "diff", "info"]
_TITLES: Mapping[View, str] = {
    "step": "step",
    "failing": "failing cases of the last check",
    "diff": "what the run has changed",
    "info": "about the run",
}


class RunScreen(RetraiScreen):
    """A run of any process, as it goes on or as it ended.

    Args:
        run: the run.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 - typed by Screen
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Runs"),
        Binding("w", "answer", "Answer"),
        Binding("s", "view('step')", "Step", show=False),
        Binding("f", "view('failing')", "Failing"),
        Binding("d", "view('diff')", "Diff"),
        Binding("i", "view('info')", "Info"),
        Binding("z", "zoom", "Zoom"),
        Binding("l", "limits", "Limits"),
        Binding("r", "resume", "Resume"),
        Binding("a", "abort", "Abort"),
        Binding("u", "undo", "Undo"),
        Binding("q", "app.quit", "Quit"),
    ]

    def __init__(self, run: Run) -> None:
        super().__init__()
        self._run = run
        self._record: RunRecord | None = None
        self._timeline = Timeline()
        self._view: View = "step"
        self._is_live = False
        self._diff_seq = -1

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._run.id

    def compose(self) -> ComposeResult:
        """The parts."""
        yield Static(id="head")
        yield Static(id="state")
        yield Static(id="question")
        with Container(id="panes"):
            yield Lines(id="timeline", compact=True)
            yield RichLog(id="detail", wrap=True, min_width=0, auto_scroll=False)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Follow the run."""
        self._show_state()
        self._follow()
        self.set_interval(_TICK_S, self._tick)
        self.query_one("#timeline").focus()

    def on_resize(self) -> None:
        """Wrap the text again."""
        self.call_after_refresh(self._show_detail)

    # Following

    @work(exclusive=True, group="follow")
    async def _follow(self) -> None:
        self._is_live = True
        try:
            self._record = await self._run.record()
            logged = await self._run.logged(self._timeline.seq)
            for begin in range(0, len(logged), _BATCH):
                self._take(logged[begin : begin + _BATCH])
            self._show_all()
            async for event in self._run.events(self._timeline.seq):
                self._take([event])
                self._show_all()
            self._record = await self._run.record()
            if self._view == "step" and _is_answer(self._record):
                self.action_view("info")
        except RunNotFoundError as error:
            await self._explain_missing(error)
        except (RetraiError, OSError) as error:
            self._app.say(error)
        finally:
            self._is_live = False
        self._show_all()

    async def _explain_missing(self, error: RunNotFoundError) -> None:
        """Nothing is left of a run that could not begin, but its manager knows why."""
        try:
            await self._run.result()
        except (RetraiError, OSError) as why:
            self._app.say(why)
        else:
            self._app.say(error)
        if self.is_current:
            self._app.show_runs()

    def _take(self, events: Iterable[AgentEvent]) -> None:
        timeline = self.query_one("#timeline", Lines)
        is_at_end = timeline.highlighted in (None, timeline.option_count - 1)
        changed: set[int] = set()
        for event in events:
            changed |= self._timeline.add(event)
        count = timeline.option_count
        entries = self._timeline.entries
        for index in sorted(index for index in changed if index < count):
            timeline.replace_option_prompt_at_index(index, entries[index].line())
        timeline.add_options(Option(entry.line()) for entry in entries[count:])
        if is_at_end and entries:
            timeline.highlighted = len(entries) - 1
        if self._view == "step" and timeline.highlighted in changed:
            self._show_detail()

    @work(exclusive=True, group="tick")
    async def _tick(self) -> None:
        """The time goes on, and the record may change without an event."""
        with suppress(RetraiError, OSError):  # whoever follows says so
            self._record = await self._run.record()
            self.refresh_bindings()
        self._show_state()
        if not self._is_live and self._has_not_ended():
            self._follow()  # it was resumed elsewhere
        if self._view == "diff" and self._diff_seq != self._timeline.seq:
            self._show_detail()

    # Showing

    def _show_all(self) -> None:
        self._show_state()
        if self._view in ("failing", "info"):
            self._show_detail()
        self.refresh_bindings()

    def _show_state(self) -> None:
        record, timeline = self._record, self._timeline
        if record is None:
            self.query_one("#head", Static).update(line_of(f"run {self.run_id}"))
            return
        head = line_of(f"{record.id}  ", "dim").append_text(line_of(goal_of(record), "bold"))
        head.append_text(line_of(f" with {record.model} in {record.project}"))
        self.query_one("#head", Static).update(head)
        status = self._status()
        state = status_text(status)
        limit = record.limits.max_iterations
        done = max(timeline.iterations, record.iterations)
        state.append(f"  iteration {done}{f'/{limit}' if limit else ''}")
        if timeline.checks:
            counts = outcomes(timeline.checks[-1][1].get("counts") or {})
            state.append(f"  {counts}" if counts else "")
        tokens = max(timeline.tokens, record.tokens.total)
        state.append(f"  {tokens:,} tokens, {cost(_known_cost(timeline, record), tokens)}")
        state.append(f"  {seconds(_worked_s(record))}")
        if self._has_not_ended() and timeline.doing and status != "waiting":
            state.append_text(line_of(f"  {timeline.doing}", "dim"))
        elif record.reason and not self._has_not_ended():
            state.append_text(line_of(f"  {first_line(record.reason)}", "dim"))
        self.query_one("#state", Static).update(state)
        self._show_question()

    def _show_question(self) -> None:
        bar = self.query_one("#question", Static)
        question = next(iter(self._timeline.open_questions.values()), None)
        bar.display = question is not None and self._has_not_ended()
        if question is not None:
            text = first_line(str(question.get("text")))
            bar.update(line_of(f"? {text}   w answers", "bold yellow"))

    def _show_detail(self) -> None:
        log = self.query_one("#detail", RichLog)
        log.border_title = _TITLES[self._view]
        # What is still being read belongs to what was shown before.
        self.workers.cancel_group(self, "detail")
        if self._view == "step":
            self._show_step()
        elif self._view == "failing":
            self._write(self._failing())
        elif self._view == "info":
            self._write(_about(self._record) if self._record else [])
        else:
            self._show_diff()

    def _write(self, lines: Sequence[Text]) -> None:
        """Show text in the detail pane; the place in it stays when it only grows."""
        log = self.query_one("#detail", RichLog)
        place = log.scroll_y
        log.clear()
        for line in lines:
            log.write(line, scroll_end=False)
        self.call_after_refresh(log.scroll_to, y=place, animate=False)

    def _show_step(self) -> None:
        index = self.query_one("#timeline", Lines).highlighted
        entries = self._timeline.entries
        if index is None or index >= len(entries):
            self._write([])
            return
        entry = entries[index]
        title = visible(f"step: {entry.name}", keep="")
        self.query_one("#detail", RichLog).border_title = Content(title)
        self._write(entry.detail or [line_of(entry.summary)])
        if entry.call_id:
            self._show_whole_result(entry.call_id, entry.detail)

    @work(exclusive=True, group="detail")
    async def _show_whole_result(self, call_id: str, detail: Sequence[Text]) -> None:
        """The event has 500 characters of a result."""
        try:
            result = await self._run.tool_result(call_id)
        except (RetraiError, OSError):  # what the event has stays
            return
        if result is not None and detail:
            self._write([*detail[:-1], block(result.content)])

    @work(exclusive=True, group="detail")
    async def _show_diff(self) -> None:
        self._diff_seq = self._timeline.seq
        try:
            diff = await self._run.diff()
        except (RetraiError, OSError) as error:
            self._write([block(str(error), "yellow")])
            return
        hint = f"`retrai runs diff {self.run_id}` shows all"
        self._write([diff_block(diff, hint=hint) if diff else block("nothing so far", "dim")])

    def _failing(self) -> list[Text]:
        checks = self._timeline.checks
        if not checks:
            return [block("no check so far", "dim")]
        shown = [check_detail(checks[-1][1])]
        history = Text().append("checks so far: ", "dim")
        for iteration, check in checks[-12:]:
            style = "green" if check.get("achieved") else "red"
            found = outcomes(check.get("counts") or {}) or (
                "passes" if style == "green" else "fails"
            )
            history.append(f"{iteration or 'start'}: {found}   ", style)
        return [history, Text(), *shown[0]]

    @on(OptionList.OptionHighlighted, "#timeline")
    def _show_highlighted(self) -> None:
        if self._view == "step":
            self.query_one("#detail", RichLog).scroll_to(y=0, animate=False)
            self._show_detail()

    @on(OptionList.OptionSelected, "#timeline")
    def _show_selected(self) -> None:
        self.action_view("step")
        self.query_one("#detail").focus()

    # Acting

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that mean nothing now are not shown."""
        del parameters
        has_not_ended = self._has_not_ended()
        if action == "answer":
            return bool(self._timeline.open_questions) and has_not_ended
        if action == "abort":
            return has_not_ended
        if action == "undo":
            return self._record is not None and not has_not_ended
        if action == "limits":
            return has_not_ended
        if action == "resume":
            return self._record is not None and self._record.resumable and not has_not_ended
        return True

    def action_leave(self) -> None:
        """Back to the timeline, or to the list."""
        if self.has_class("zoomed"):
            self.action_zoom()
        elif self._view != "step":
            self.action_view("step")
        else:
            self._app.show_runs()

    def action_view(self, view: View) -> None:
        """Show something else in the detail pane; the same again: the step."""
        self._view = "step" if view == self._view else view
        self.query_one("#detail", RichLog).scroll_to(y=0, animate=False)
        self._show_detail()

    def action_zoom(self) -> None:
        """The detail pane alone, or both panes."""
        is_zoomed = self.toggle_class("zoomed").has_class("zoomed")
        self.query_one("#detail" if is_zoomed else "#timeline").focus()

    @work(group="act")
    async def action_answer(self) -> None:
        """Answer the oldest open question."""
        questions = await self._try(self._run.questions)
        if not questions:
            return
        question = questions[0]
        given = await self._app.push_screen_wait(_question_dialog(question))
        if given is None:
            return

        async def answer() -> bool:
            return await self._run.answer(question.id, given.choice, given.text)

        if await self._try(answer) is False:
            self._app.note("somebody else has answered it already")

    @work(group="act")
    async def action_abort(self) -> None:
        """End the run."""
        dialog = ChoiceDialog(
            "End this run?",
            [block("What it has changed stays; Undo takes it back.")],
            {
                "aborted": "End it",
                "interrupted": "Stop it, to be resumed later",
                "": "Let it go on",
            },
        )
        given = await self._app.push_screen_wait(dialog)
        if given is not None and given.choice in ("aborted", "interrupted"):
            status = given.choice

            async def cancel() -> bool:
                return await self._run.cancel(status)

            if await self._try(cancel) is False:
                self._app.note("it has ended already")

    @work(group="act")
    async def action_limits(self) -> None:
        """New limits for a run that goes on."""
        limits = await self._ask_limits("New limits, from the next iteration on")
        if limits:
            await self._is_done(partial(self._run.configure, **limits))

    @work(group="act")
    async def action_resume(self) -> None:
        """Go on with a run that has ended."""
        limits = await self._ask_limits("Resume with these limits")
        if limits is not None and await self._is_done(partial(self._run.resume, **limits)):
            self._app.note_own(self._run)
            self._follow_resumed()

    async def _ask_limits(self, title: str) -> dict[str, str] | None:
        """The limits that were changed; None where nothing is to be done."""
        record = await self._try(self._run.record)
        if record is None:
            return None
        current = record.limits.model_dump()
        fields = {
            name: Field(label, _shown(current[known]), "no limit")
            for name, (label, known) in _LIMITS.items()
        }
        given = await self._app.push_screen_wait(FieldsDialog(title, fields))
        if given is None:
            return None
        return {
            name: value or "none" for name, value in given.items() if value != fields[name].value
        }

    @work(exclusive=True, group="resumed")
    async def _follow_resumed(self) -> None:
        self._follow()
        try:  # one that cannot go on says so here
            await self._run.result()
        except (RetraiError, OSError) as error:
            self._app.say(error)

    @work(group="act")
    async def action_undo(self) -> None:
        """Take back what the run has changed, once it was shown."""
        planned = await self._try(lambda: self._run.undo(dry_run=True))
        if planned is None:
            return
        lines = [
            *(line_of(f"restored  {path}") for path in planned.restored),
            *(line_of(f"removed   {path}") for path in planned.removed),
            *(
                line_of(f"merged    {path}  (your later changes are kept)")
                for path in planned.merged
            ),
            *(
                line_of(
                    f"conflict  {path}  (changed since in the same place; left alone)", "yellow"
                )
                for path in planned.conflicts
            ),
        ]
        if not (planned.restored or planned.removed or planned.merged):
            lines.append(block("nothing to undo: the project is as it was"))
            choices = {"": "Close"}
        else:
            choices = {"": "Leave all as it is", "undo": "Undo this"}
        given = await self._app.push_screen_wait(
            ChoiceDialog("What undoing this run changes", lines, choices)
        )
        if given is None or given.choice != "undo":
            return
        undone = await self._try(self._run.undo)
        if undone is not None:
            changed = [*undone.restored, *undone.removed, *undone.merged]
            left = f"; left alone: {names(undone.conflicts)}" if undone.conflicts else ""
            self._app.note(f"undone: {names(changed)}{left}")

    async def _try(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """What it returns; None where it fails, and the error is shown."""
        try:
            return await call()
        except (RetraiError, OSError) as error:
            self._app.say(error)
            return None

    async def _is_done(self, call: Callable[[], Awaitable[object]]) -> bool:
        try:
            await call()
        except (RetraiError, OSError) as error:
            self._app.say(error)
            return False
        return True

    def _status(self) -> str:
        assert self._record is not None
        if self._timeline.open_questions and self._record.status == "running":
            return "waiting"
        return self._record.status

    def _has_not_ended(self) -> bool:
        return self._record is not None and self._record.status in NOT_ENDED


def _question_dialog(question: Question) -> ChoiceDialog:
    body = [block(question.text, "bold")]
    data = question.data
    if reason := str(data.get("reason") or ""):
        body.append(block(reason))
    if paths := data.get("paths"):
        body.append(block(f"files: {names([str(path) for path in paths], 20)}"))
    args = data.get("args")
    if isinstance(args, Mapping):
        values = cast("Mapping[str, object]", args)
        body += [block(f"{name}: {value}") for name, value in values.items()]
    if diff := str(data.get("diff") or ""):
        body += [Text(), diff_block(diff)]
    choices = {choice.id: choice.label for choice in question.choices} or {"": "Send"}
    choices.setdefault(_ABORT, "End the run")
    title = f"{question.kind.replace('_', ' ')}: your answer"
    return ChoiceDialog(title, body, choices, takes_text=question.takes_text)


def _about(record: RunRecord) -> list[Text]:
    """How it stands, with the evidence."""
    limits = {name: value for name, value in record.limits.model_dump().items() if value}
    rows: list[tuple[str, str]] = [
        ("status", f"{record.status} {record.reason}"),
        ("goal", ", ".join(goal.name for goal in record.goals)),
        ("found by", ", ".join(goal.found_by for goal in record.goals)),
        ("agent", record.agent),
        ("model", record.model),
        ("project", str(record.project)),
        ("task", record.task),
        *((name, str(value)) for name, value in record.input.items()),
        ("limits", ", ".join(f"{name} {_shown(value)}" for name, value in limits.items())),
        ("changed", names(record.changed_files, 20)),
        *(("refused", line) for line in record.refused),
        *(("look at", line) for line in record.findings),
        ("sandbox", ", ".join(record.sandboxes)),
        ("artifacts", ", ".join(record.artifacts)),
        ("next", record.next_step),
    ]
    for goal in record.goals:
        for name, evidence in (("before", goal.before), ("after", goal.after)):
            if evidence is not None:
                counts = outcomes(evidence.counts)
                rows.append((name, f"{evidence.reason} {f'({counts})' if counts else ''}"))
        rows += [("flaky", case) for case in goal.flaky]
    shown = [
        line_of(f"{name:<10}", "dim").append_text(line_of(value)) for name, value in rows if value
    ]
    for line in shown:
        line.no_wrap = False
    answer = [block(record.output)] if record.output else []
    if _is_answer(record):
        return [*answer, Text(), *shown]
    return [*shown, *([Text(), *answer] if answer else [])]


def _is_answer(record: RunRecord) -> bool:
    return bool(record.output) and not record.goals


def _known_cost(timeline: Timeline, record: RunRecord) -> float | None:
    return record.cost_usd if timeline.cost_usd is None else timeline.cost_usd


def _worked_s(record: RunRecord) -> float:
    if record.status in NOT_ENDED and record.part_started_at is not None:
        return record.worked_s + max(0.0, time.time() - record.part_started_at)
    return record.worked_s


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
