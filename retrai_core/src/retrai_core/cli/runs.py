"""`retrai runs`: list, show, follow, answer, cancel, resume, compare and prune runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UsageError
from .aliases import AliasedOption
from .budget_options import budget_options, hitl_option, max_iterations_option
from .lazy_group import PluginGroup
from .output import echo, echo_patch, visible_name
from .render.words import count, one_line
from .with_manager import with_manager

if TYPE_CHECKING:
    from ..contracts.question import Question
    from ..contracts.record import RunRecord
    from ..events import AgentEvent
    from ..runs.handle import Run
    from ..runs.manager import RunManager
    from ..storage.restore import Undone

_ON_TERMINAL = 20
"""So many runs a terminal shows at once."""
_LONGEST_REASON = 500


@click.group(cls=PluginGroup)
def runs() -> None:
    """List, show, follow, answer, cancel, resume, compare and prune runs.

    Name a run by its id or by a unique beginning of it.
    """


@runs.command("list")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show the newest N; 0 shows all. Default: 20 on a terminal, else all.",
)
@click.option(
    "-C",
    "project",
    cls=AliasedOption,
    aliases=["--cwd"],
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Show only runs of the project in DIR; `-C .` for this one.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the records as JSON: all of them, or N."
)
def list_runs(limit: int | None, project: Path | None, as_json: bool) -> None:
    """List the runs, newest first.

    A run with a damaged record is `unreadable`; its JSON has `id`, `status`, `reason`, `path`.
    """
    from .runs_list import as_json as in_json
    from .runs_list import damaged_among, none_in, runs_of, table

    every = with_manager(lambda manager: manager.list())
    found = every if project is None else runs_of(every, project)
    nothing = "" if found else none_in(project)
    on_terminal = not as_json and sys.stdout.isatty()
    if limit is None:
        limit = _ON_TERMINAL if on_terminal else 0
    shown = found[:limit] if limit else found
    if as_json:
        echo(json.dumps([in_json(run) for run in shown], indent=2))
        return
    echo(nothing or table(shown))
    if on_terminal and len(found) > len(shown):
        echo(f"... {len(found) - len(shown):,} more: --limit 0")
    if project is not None and (told := damaged_among(every)):
        echo(told, err=True)


@runs.command()
@click.argument("run_id", metavar="RUN")
@click.option("--events", is_flag=True, help="Show every step of the run.")
@click.option("--json", "as_json", is_flag=True, help="Print the record (or the events) as JSON.")
def show(run_id: str, events: bool, as_json: bool) -> None:
    """Show how a run ended, with the evidence."""

    async def read(manager: RunManager) -> tuple[Run, RunRecord, list[AgentEvent]]:
        run = await manager.get(run_id)
        return run, await run.record(), await run.logged() if events else []

    run, record, logged = with_manager(read)
    if as_json:
        lines = [event.to_json() for event in logged]
        echo("\n".join(lines) if events else record.model_dump_json(indent=2))
        return
    from .render.summary import head_line, summary_lines
    from .render.terminal import RunTerminal, make_console

    console = make_console()
    terminal = RunTerminal(console)
    for event in logged:
        terminal.hear(event)
    console.print(head_line(record))
    for line in summary_lines(record):
        console.print(line)
    console.print(f"  files     {run.folder}")


@runs.command()
@click.argument("run_id", metavar="RUN")
@max_iterations_option
@hitl_option
@click.option("--json", "as_json", is_flag=True, help="Print only the run record, as JSON.")
@budget_options
def resume(
    run_id: str,
    max_iterations: int | None,
    hitl: bool | None,
    as_json: bool,
    **budget: str | None,
) -> int:
    """Resume a run from its last finished step, with higher limits if given."""
    from .asking import require_someone_to_ask
    from .foreground import work_in_foreground

    async def begin(manager: RunManager) -> Run:
        run = await manager.get(run_id)
        record = await run.record()
        asks = record.config.get("hitl_enabled") if hitl is None else hitl
        if asks and record.resumable:
            require_someone_to_ask()
        return await run.resume(max_iterations=max_iterations, hitl_enabled=hitl, **budget)

    return work_in_foreground(begin, as_json=as_json).exit_code or 0


@runs.command()
@click.argument("run_id", metavar="RUN")
@click.argument("choice", required=False)
@click.argument("text", required=False)
@click.option("--question", metavar="ID", help="The question. Default: the oldest open one.")
def answer(run_id: str, choice: str | None, text: str | None, question: str | None) -> int:
    """Answer a run's question from any terminal; without CHOICE, show the question.

    CHOICE is one of the choices shown, yes, no, or abort, which ends the run. TEXT is for questions
    that accept text.
    """

    async def give(manager: RunManager) -> int:
        run = await manager.get(run_id)
        open_ones = await run.questions()
        if not open_ones:
            raise UsageError(
                f"run {run.id} asks nothing now", hint=f"`retrai runs follow {run.id}` shows it"
            )
        if choice is None:
            echo("\n".join(line for each in open_ones for line in _question_lines(each)))
            echo(f"answer with: retrai runs answer {run.id} CHOICE")
            return 0
        wanted = question or open_ones[0].id
        if await run.answer(wanted, choice, text or ""):
            echo(f"answered {wanted} of run {run.id}: {choice}")
            return 0
        echo(f"{wanted} of run {run.id} has been answered already", err=True)
        return 1

    return with_manager(give)


def _question_lines(question: Question) -> list[str]:
    from ..contracts.question import ABORT

    lines = [f"{question.id}  {question.text}"]
    if reason := question.data.get("reason"):
        lines.append(f"  {one_line(str(reason), _LONGEST_REASON)}")
    lines += [f"  {choice.id:<16} {choice.label}" for choice in question.choices]
    if question.takes_text:
        lines.append("  (takes words)")
    if any(choice.id == ABORT for choice in question.choices):
        return lines
    return [*lines, f"  {ABORT:<16} end the run"]


@runs.command()
@click.argument("run_id", metavar="RUN")
@click.option("--interrupt", is_flag=True, help="Stop the run so that it can be resumed.")
def cancel(run_id: str, interrupt: bool) -> int:
    """Stop a run, whichever process executes it."""

    async def end(manager: RunManager) -> int:
        run = await manager.get(run_id)
        if not await run.cancel("interrupted" if interrupt else "aborted"):
            echo(f"run {run.id} has ended: {(await run.record()).status}", err=True)
            return 1
        record = await run.result()
        echo(f"run {run.id}: {record.status}")
        return 0

    return with_manager(end)


@runs.command()
@click.argument("run_id", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Print the events as JSON, one per line.")
def follow(run_id: str, as_json: bool) -> int:
    """Follow a run of another process, from its first event to its last.

    Ctrl-C stops only this command. The exit code is that of the run.
    """
    from .foreground import show_events
    from .render.summary import summary_lines
    from .render.terminal import RunTerminal, make_console

    terminal = RunTerminal(make_console())

    async def show_it(manager: RunManager) -> RunRecord:
        run = await manager.get(run_id)
        if as_json:
            async for event in run.events():
                echo(event.to_json())
            return await run.record()
        with terminal:
            await show_events(run, terminal, answers=False)
        return await run.record()

    record = with_manager(show_it)
    if not as_json:
        for line in summary_lines(record):
            terminal.console.print(line)
    return record.exit_code or 0


@runs.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--first",
    type=int,
    metavar="N",
    help="Start at the end of iteration N; 0 is the start of the run.",
)
@click.option("--last", type=int, metavar="N", help="Stop at the end of iteration N.")
def diff(run_id: str, first: int | None, last: int | None) -> None:
    """Show the changes of a run as a unified diff."""

    async def changed(manager: RunManager) -> tuple[str, str, str]:
        run = await manager.get(run_id)
        unseen = _without_snapshot(run, await run.logged()) if last is None else ""
        return run.id, await run.diff(first or 0, last), unseen

    found, changes, unseen = with_manager(changed)
    # Not on standard output, from which a diff may be applied.
    if unseen:
        echo(unseen, err=True)
    elif not changes:
        echo(f"run {found} changed nothing there", err=True)
    echo_patch(changes)


@runs.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--to",
    type=int,
    default=0,
    metavar="N",
    help="Undo only what came after iteration N.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
def undo(run_id: str, to: int, dry_run: bool) -> int:
    """Undo the changes of a run; what you changed since is kept.

    If you and the run changed the same lines, the file is listed and left as it is, and the exit
    code is 1.
    """

    async def take_back(manager: RunManager) -> tuple[str, Undone, str]:
        run = await manager.get(run_id)
        unseen = _without_snapshot(run, await run.logged())
        return run.id, await run.undo(to, dry_run=dry_run), unseen

    found, undone, unseen = with_manager(take_back)
    verbs = ("would restore", "would remove", "would merge")
    restored, removed, merged = verbs if dry_run else ("restored", "removed", "merged")
    told = [
        *((restored, path, "") for path in undone.restored),
        *((removed, path, "") for path in undone.removed),
        *((merged, path, "your later changes are kept") for path in undone.merged),
        *(
            ("conflict", path, "changed since in the same place; left alone")
            for path in undone.conflicts
        ),
    ]
    width = len(verbs[0] if dry_run else restored)
    lines = [
        f"{what:<{width}}  {visible_name(path)}{why and f'  ({why})'}" for what, path, why in told
    ]
    if told or not unseen:
        echo("\n".join(lines) or "nothing to undo: the project is as it was")
    if dry_run and told:
        since = f" --to {to}" if to else ""
        echo(f"nothing is changed yet; `retrai runs undo {found}{since}` does it", err=True)
    if unseen:
        echo(unseen, err=True)
    if undone.conflicts:
        since = f" --first {to}" if to else ""
        shown = f"`retrai runs diff {found}{since}` shows what the run did there"
        echo(f"next: {shown}; take it back by hand", err=True)
    return 1 if undone.conflicts or unseen else 0


def _without_snapshot(run: Run, events: Sequence[AgentEvent]) -> str:
    """What nobody can tell or take back of a run that was killed; nothing for any other."""
    from ..storage.crash_recovery import calls_without_snapshot

    try:
        calls = calls_without_snapshot(events)
    except KeyError:  # a plugin's event
        return ""
    if not calls:
        return ""
    return (
        f"run {run.id} was killed, and of its last calls no snapshot was taken: what they "
        f"changed is left as it is ({_shown(calls)}); `retrai runs resume {run.id}` takes it up"
    )


def _shown(calls: list[str]) -> str:
    more = f" and {len(calls) - 3} more before" if len(calls) > 3 else ""
    return "; ".join(visible_name(call[:80]) for call in calls[-3:]) + more


@runs.command()
@click.option("--keep", type=click.IntRange(min=0), metavar="N", help="Keep the newest N runs.")
@click.option(
    "--older-than",
    type=click.FloatRange(min=0),
    metavar="DAYS",
    help="Delete runs that ended more than this many days ago.",
)
@click.option("--unfinished", is_flag=True, help="With --keep, also delete interrupted runs.")
@click.option("--unreadable", is_flag=True, help="Also delete runs with a damaged record.")
def prune(keep: int | None, older_than: float | None, unfinished: bool, unreadable: bool) -> int:
    """Delete old runs: their records, logs, checkpoints and snapshots.

    --keep counts finished runs only. Interrupted runs, which can be resumed, are kept as well.
    """
    if keep is None and older_than is None:
        raise click.UsageError("say which: --keep N or --older-than DAYS")
    pruned = with_manager(
        lambda manager: manager.prune(
            keep=keep, older_than_days=older_than, unfinished=unfinished, unreadable=unreadable
        )
    )
    echo(f"deleted {count(len(pruned.removed), 'run')}")
    if pruned.spared:
        kept = count(len(pruned.spared), "run")
        echo(f"kept {kept} that could be resumed; --unfinished deletes them too")
    if pruned.unreadable:
        kept = count(len(pruned.unreadable), "run")
        echo(f"kept {kept} whose record is damaged; --unreadable deletes them too")
    for run_id, problem in pruned.failed.items():
        echo(f"error: {run_id} cannot be deleted: {problem}", err=True)
    return 1 if pruned.failed else 0
