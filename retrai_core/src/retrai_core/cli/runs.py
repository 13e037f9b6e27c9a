"""`retrai runs`: list, show, resume, compare and prune runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UsageError
from .budget_options import budget_options
from .numbers import Number, WholeNumber
from .output import echo, echo_patch, visible_name
from .render.words import count

if TYPE_CHECKING:
    from ..runs.record import RunRecord
    from ..runs.store import RunStore
    from .render.terminal import RunTerminal

_ON_TERMINAL = 20
"""So many runs a terminal shows at once."""


@click.group()
def runs() -> None:
    """List, show, resume, compare and prune runs.

    A run is named by its id, or by as much of it as is unique.
    """
    from ..errors import RetraiError
    from ..guard.held_files import put_all_back, told
    from ..runs.store import state_dir

    try:
        brought = put_all_back(state_dir())
    except (RetraiError, OSError) as error:  # it keeps nobody from looking at runs
        echo(f"held-out files of a killed run are not back yet: {error}", err=True)
        brought = []
    for back in brought:
        echo(
            f"put {count(back.count, 'held-out file')} back into {back.project}: run {back.run_id} "
            "was killed",
            err=True,
        )
        for line in told(back):
            echo(line, err=True)


@runs.command("list")
@click.option(
    "-n",
    "--limit",
    type=WholeNumber(min=0),
    metavar="N",
    help="The newest N; 0: all, as where no terminal shows them. Else 20.",
)
@click.option(
    "-C",
    "project",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The runs of the project in DIR alone; `-C .`: of this one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the records of all, or of N.")
def list_runs(limit: int | None, project: Path | None, as_json: bool) -> None:
    """List the runs, newest first.

    One whose record is damaged is `unreadable`; in JSON it has `id`, `status`, `reason`, `path`.
    """
    from .runs_list import as_json as in_json
    from .runs_list import damaged_among, none_in, runs_of, table

    every = _store().entries()
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
@click.option("--events", is_flag=True, help="Show the run again, step by step.")
@click.option("--json", "as_json", is_flag=True, help="Print the record (or the events) as JSON.")
def show(run_id: str, events: bool, as_json: bool) -> None:
    """Show how a run ended and on what evidence."""
    store = _store()
    record = store.load(run_id)
    log = store.folder(record.id) / "events.jsonl"
    if events and as_json:
        echo(log.read_text(encoding="utf-8"), nl=False)
        return
    if as_json:
        echo(record.model_dump_json(indent=2))
        return
    from .render.summary import head_line, summary_lines
    from .render.terminal import RunTerminal, make_console

    console = make_console()
    if events:
        _replay(log, RunTerminal(console))
    console.print(head_line(record))
    for line in summary_lines(record):
        console.print(line)
    console.print(f"  files     {store.folder(record.id)}")


@runs.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "-n", "--max-iterations", type=WholeNumber(), metavar="N", help="How often it may go round."
)
@click.option("--json", "as_json", is_flag=True, help="Print the run record alone, as JSON.")
@budget_options
def resume(
    run_id: str, max_iterations: int | None, as_json: bool, **budget: float | str | None
) -> int:
    """Go on with a run from its last finished step, with higher limits where they are given."""
    from .foreground import resume_in_foreground

    record = _store().load(run_id)
    if not record.resumable:
        raise UsageError(
            f"run {record.id} has ended: {record.status}",
            hint="`retrai run` starts a new one",
        )
    limits = {"max_iterations": max_iterations, **budget}
    ended = resume_in_foreground(record, limits, as_json=as_json)
    return ended.exit_code or 0


@runs.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--first", type=WholeNumber(), metavar="N", help="From the end of iteration N; 0: the start."
)
@click.option("--last", type=WholeNumber(), metavar="N", help="To the end of iteration N.")
def diff(run_id: str, first: int | None, last: int | None) -> None:
    """Show what a run has changed, as a unified diff."""
    from ..runs.snapshots import Snapshots

    store = _store()
    record = store.load(run_id)
    snapshots = Snapshots(store.folder(record.id), record.project)
    changes = snapshots.diff(first, last)
    # Not on standard output, from which a diff may be applied.
    if unseen := _without_snapshot(store, record) if last is None else "":
        echo(unseen, err=True)
    elif not changes:
        echo(f"run {record.id} changed nothing there", err=True)
    echo_patch(changes)


@runs.command()
@click.argument("run_id", metavar="RUN")
@click.option(
    "--to", type=WholeNumber(), default=0, metavar="N", help="Back to the end of iteration N."
)
def undo(run_id: str, to: int) -> int:
    """Take back what a run has changed; what you have changed since is kept.

    Where you have changed the same place as the run, the file is left alone and named, and the
    exit code is 1. So it is where the run has damaged an object of a repository for good.
    """
    from ..guard.left_behind import clean_up_killed_runs
    from ..runs.snapshots import Snapshots
    from ..runs.undo import undo as undo_run
    from ..workspace.lock import WorkspaceLock

    store = _store()
    record = store.load(run_id)
    with WorkspaceLock(record.project, store.state, f"undo of {record.id}"):
        told_first = clean_up_killed_runs(store.state, record.project)
        undone = undo_run(Snapshots(store.folder(record.id), record.project), record.project, to)
    for line in told_first:
        echo(line, err=True)
    told = [
        *(("restored", path, "") for path in undone.restored),
        *(("removed", path, "") for path in undone.removed),
        *(("merged", path, "your later changes are kept") for path in undone.merged),
        *(
            ("conflict", path, "changed since in the same place; left alone")
            for path in undone.conflicts
        ),
        *(
            ("damaged", path, "overwritten in place, and no sound copy is kept; see `git fsck`")
            for path in undone.damaged
        ),
    ]
    lines = [f"{what:<8}  {visible_name(path)}{why and f'  ({why})'}" for what, path, why in told]
    unseen = _without_snapshot(store, record)
    if told or not unseen:
        echo("\n".join(lines) or "nothing to undo: the project is as it was")
    if unseen:
        echo(unseen, err=True)
    if undone.conflicts:
        since = f" --first {to}" if to else ""
        shown = f"`retrai runs diff {record.id}{since}` shows what the run did there"
        echo(f"next: {shown}; take it back by hand", err=True)
    return 1 if undone.conflicts or undone.damaged or unseen else 0


def _without_snapshot(store: RunStore, record: RunRecord) -> str:
    """What nobody can tell or take back of a run that was killed; nothing for any other."""
    from ..runs.killed import calls_without_snapshot
    from ..runs.log import read_events

    try:
        calls = calls_without_snapshot(read_events(store.folder(record.id) / "events.jsonl"))
    except (OSError, KeyError):  # no log, or a plugin's event
        return ""
    if not calls:
        return ""
    return (
        f"run {record.id} was killed, and of its last calls no snapshot was taken: what they "
        f"changed is left as it is ({_shown(calls)}); `retrai runs resume {record.id}` takes it up"
    )


def _shown(calls: list[str]) -> str:
    more = f" and {len(calls) - 3} more before" if len(calls) > 3 else ""
    return "; ".join(visible_name(call[:80]) for call in calls[-3:]) + more


@runs.command()
@click.option("--keep", type=WholeNumber(min=0), metavar="N", help="Keep the newest N runs.")
@click.option(
    "--older-than",
    type=Number(min=0),
    metavar="DAYS",
    help="Delete runs that ended more than so many days ago.",
)
@click.option("--unfinished", is_flag=True, help="Let --keep delete interrupted runs too.")
@click.option("--unreadable", is_flag=True, help="Delete runs whose record is damaged too.")
def prune(keep: int | None, older_than: float | None, unfinished: bool, unreadable: bool) -> int:
    """Delete old runs: their records, logs, checkpoints and snapshots.

    --keep counts finished runs; those that were interrupted and could be resumed stay beside them.
    """
    if keep is None and older_than is None:
        raise click.UsageError("say which: --keep N or --older-than DAYS")
    pruned = _store().prune(
        keep=keep, older_than_days=older_than, unfinished=unfinished, unreadable=unreadable
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


def _store() -> RunStore:
    from ..runs.store import RunStore  # TAB imports this module too, and has no time for it

    return RunStore()


def _replay(log: Path, terminal: RunTerminal) -> None:
    from ..runs.log import read_events

    for event in read_events(log):
        terminal.hear(event)
