"""`retrai index`: make and update the index, search it, ask its call graph."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retrai_core import UsageError, echo

from .answers import (
    call_lines,
    chain_lines,
    definition_lines,
    hit_lines,
    subclass_lines,
    unknown_name,
)

if TYPE_CHECKING:
    from .index import Index
    from .indexer import Update

PROGRESS_FROM = 200
"""Fewer files are read in a moment."""

in_project = click.option(
    "-C",
    "project",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=".",
    help="Project folder. Default: the current one.",
)
embedder_option = click.option(
    "--embedder",
    envvar="RETRAI_INDEX_EMBEDDER",
    metavar="NAME",
    help="Rank by meaning too: litellm:MODEL, local or local:FOLDER. Default: off.",
)
as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("index", invoke_without_command=True)
@in_project
@click.option("--watch", is_flag=True, help="Stay, and update the index when files change.")
@click.option("--stats", "with_stats", is_flag=True, help="Print what the index holds.")
@click.option("--embed", is_flag=True, help="Embed everything, so that meaning alone finds it.")
@embedder_option
@as_json_option
@click.pass_context
def index(
    context: click.Context,
    project: Path,
    watch: bool,
    with_stats: bool,
    embed: bool,
    embedder: str | None,
    as_json: bool,
) -> int:
    """Index a project's code, or bring its index up to date.

    The index is kept in your cache folder, one file a project. The subcommands update it first.
    """
    if context.invoked_subcommand is not None:
        source = context.get_parameter_source("embedder")
        names_embedder = source is click.core.ParameterSource.COMMANDLINE
        if watch or with_stats or embed or names_embedder or as_json:
            raise UsageError(
                f"index: only -C may stand before {context.invoked_subcommand}",
                hint=f"write the options behind it: retrai index {context.invoked_subcommand} ...",
            )
        context.obj = project
        return 0
    with opened(project, embedder) as (found, update):
        if embed:
            with _progress("embedding") as progress:
                count = found.embed(progress=progress)
            if not as_json:
                echo(f"embedded {count:,} chunks")
        if as_json:
            facts = {"added": update.added, "changed": update.changed, "removed": update.removed}
            stats = asdict(found.stats())
            echo(json.dumps({**facts, "vendored": update.vendored, **stats}, indent=2))
        else:
            echo(_summary(update))
            if with_stats:
                _echo_stats(found, update)
        if watch:
            from .watch import watch_project

            watch_project(found, lambda update: echo(_summary(update)))
    return 0


def _project(context: click.Context, project: Path) -> Path:
    """The folder: `retrai index -C DIR search` and `retrai index search -C DIR` are the same."""
    given = context.get_parameter_source("project")
    return project if given is click.core.ParameterSource.COMMANDLINE else context.obj or project


@index.command()
@click.argument("query")
@click.option("-n", "count", type=click.IntRange(1, 1000), default=10, help="Maximum hits.")
@in_project
@embedder_option
@as_json_option
@click.pass_context
def search(
    context: click.Context,
    query: str,
    count: int,
    project: Path,
    embedder: str | None,
    as_json: bool,
) -> int:
    """Search definitions and text by words, names or a sentence."""
    with opened(_project(context, project), embedder) as (found, _):
        hits = found.search(query, count)
        if as_json:
            keys = ("path", "start_line", "end_line", "symbol", "score")
            echo(json.dumps([{key: getattr(hit, key) for key in keys} for hit in hits], indent=2))
        elif hits:
            echo("\n".join(hit_lines(hits)))
        else:
            echo("nothing fits this question")
    return 0


@index.command()
@click.argument("name")
@in_project
@as_json_option
@click.pass_context
def definition(context: click.Context, name: str, project: Path, as_json: bool) -> int:
    """Show where NAME is defined, and the subclasses of a class."""
    with opened(_project(context, project)) as (found, _):
        definitions = found.definition(name)
        if as_json:
            echo(json.dumps([asdict(each) for each in definitions], indent=2))
        elif definitions:
            lines = [line for each in definitions for line in definition_lines(each)]
            echo("\n".join([*lines, *subclass_lines(name, definitions, found.subclasses(name))]))
        if not definitions:
            echo(unknown_name(name, found.similar(name)), err=as_json)
    return 0 if definitions else 1


@index.command()
@click.argument("name")
@in_project
@as_json_option
@click.pass_context
def subclasses(context: click.Context, name: str, project: Path, as_json: bool) -> int:
    """List the direct and indirect subclasses of NAME."""
    with opened(_project(context, project)) as (found, _):
        definitions, below = found.definition(name), found.subclasses(name)
        is_known = bool(definitions or below)
        if as_json:
            echo(json.dumps([asdict(each) for each in below], indent=2))
        elif is_known:
            lines = subclass_lines(name, definitions, below, limit=len(below))
            echo("\n".join(lines) or f"nothing inherits from {definitions[0].name}")
        if not is_known:
            echo(unknown_name(name, found.similar(name)), err=as_json)
    return 0 if is_known else 1


@index.command()
@click.argument("name")
@in_project
@as_json_option
@click.pass_context
def callers(context: click.Context, name: str, project: Path, as_json: bool) -> int:
    """Show who calls NAME."""
    return _calls(_project(context, project), name, as_json, up=True)


@index.command()
@click.argument("name")
@in_project
@as_json_option
@click.pass_context
def callees(context: click.Context, name: str, project: Path, as_json: bool) -> int:
    """Show what NAME calls."""
    return _calls(_project(context, project), name, as_json, up=False)


def _calls(project: Path, name: str, as_json: bool, *, up: bool) -> int:
    with opened(project) as (found, _):
        definitions = found.definition(name)
        calls = found.callers(name) if up else found.callees(name)
        if as_json:
            echo(json.dumps([asdict(call) for call in calls], indent=2))
        elif definitions:
            lines = call_lines(definitions, calls, up=up, limit=4 * len(calls))
            echo("\n".join(lines))
        if not definitions:
            echo(unknown_name(name, found.similar(name)), err=as_json)
    return 0 if definitions else 1


@index.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@in_project
@as_json_option
@click.pass_context
def path(context: click.Context, source: str, target: str, project: Path, as_json: bool) -> int:
    """Show a shortest chain of calls from FROM to TO."""
    with opened(_project(context, project)) as (found, _):
        chain = found.call_path(source, target)
        if as_json:
            echo(json.dumps([asdict(each) for each in chain], indent=2))
        elif chain:
            echo("\n".join(chain_lines(list(enumerate(chain)))))
        if not chain:
            missing = [name for name in (source, target) if not found.definition(name)]
            for name in missing:
                echo(unknown_name(name, found.similar(name)), err=as_json)
            if not missing:
                echo(f"no known calls lead from {source} to {target}", err=as_json)
    return 0 if chain else 1


@index.command()
@in_project
@as_json_option
@click.pass_context
def graph(context: click.Context, project: Path, as_json: bool) -> int:
    """Show every edge of the call graph: caller and callees, by dotted names."""
    with opened(_project(context, project)) as (found, _):
        edges = found.graph()
        if as_json:
            echo(json.dumps(edges, indent=2))
        else:
            for caller, called in edges.items():
                for callee in called:
                    echo(f"{caller} -> {callee}")
    return 0


@contextmanager
def opened(project: Path, embedder: str | None = None) -> Generator[tuple[Index, Update]]:
    """The up-to-date index of a project; shows progress and warnings on standard error."""
    from .index import Index

    with Index(project, embedder=embedder) as found:
        with _progress("indexing") as progress:
            update = found.update(progress=progress)
        for warning in found.take_warnings():
            echo(f"warning: {warning}", err=True)
        yield found, update


@contextmanager
def _progress(what: str) -> Generator[Callable[[int, int], None] | None]:
    """A bar on the terminal, once there is something to wait for."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, visible=False)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, visible=total >= PROGRESS_FROM)

        yield show


def _summary(update: Update) -> str:
    if update.is_empty:
        return "the index is up to date"
    words = [
        f"{number:,} {word}"
        for number, word in (
            (update.added, "added"),
            (update.changed, "changed"),
            (update.removed, "removed"),
        )
        if number
    ]
    return f"indexed files: {', '.join(words)} ({update.seconds:.1f} s)"


def _echo_stats(found: Index, update: Update) -> None:
    stats = found.stats()
    languages = ", ".join(f"{name} {count:,}" for name, count in stats.languages.items())
    skipped = ", ".join(f"{count:,} {reason}" for reason, count in stats.skipped.items())
    folders = ", ".join(update.vendored[:5])
    rows: Sequence[tuple[str, Any]] = (
        ("file", stats.path),
        ("size", f"{stats.size_bytes / 1e6:.1f} MB"),
        ("files", f"{stats.files:,} with {stats.lines:,} lines ({languages or 'none'})"),
        ("skipped", skipped or "none"),
        ("vendored", f"{len(update.vendored)} folders ({folders})" if folders else "none"),
        ("syntax", f"{stats.partly:,} files with errors, indexed as far as they parse"),
        ("chunks", f"{stats.chunks:,}, of them {stats.definitions:,} definitions"),
        ("calls", f"{stats.calls:,}, of them {stats.resolved:,} with a known target"),
    )
    for name, value in rows:
        echo(f"{name:<9} {value}")
