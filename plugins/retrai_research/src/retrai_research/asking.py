"""Runs the agent on one question, or on one after the other, and shows it."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import click

from retrai_core import (
    RetraiError,
    Run,
    RunManager,
    RunNotFoundError,
    RunRecord,
    RunRequest,
    TrustRequired,
    UsageError,
    echo,
    somebody_watches,
)

from .command import LATEST
from .view import AskView, show_answer

_AGENT = "research"
_REPAIRS_ONLY, _EXTRACTIVE = "offline", "extractive"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_EXIT_INTERRUPTED = 130
_DRAIN_TIMEOUT_S = 10.0
_RUN_ID = re.compile(r"[0-9a-f]{4,}")
_LOOKED_AT = 100
"""So many runs of a project are looked through for the last one of this agent."""


@dataclass(frozen=True)
class AskOptions:
    """What the user asked for.

    Attributes:
        project: its folder.
        continued: the run to continue, by its id or `latest`; None: none.
        trusts: approve what the project's own file sets.
        verbose: print each update of the state.
        as_json: print the record.
        settings: of the run.
    """

    project: Path
    continued: str | None = None
    trusts: bool = False
    verbose: bool = False
    as_json: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def question_of_continue(self) -> tuple[str | None, Self]:
        """In `--continue "How?"` the question stands where a run's id may stand."""
        if self.continued in (None, LATEST) or _RUN_ID.fullmatch(str(self.continued)):
            return None, self
        return self.continued, replace(self, continued=LATEST)


def answer_question(question: str, options: AskOptions) -> RunRecord:
    """Answer one question; the run's record.

    Raises:
        UsageError, PluginError: it cannot be asked like that, and there is no run.
    """
    try:
        record = asyncio.run(_answer(question, options))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    if options.as_json:
        echo(record.model_dump_json(indent=2))
    else:
        show_answer(record)
    return record


def answer_questions(options: AskOptions) -> int:
    """Answer questions that are typed on the terminal, in one conversation; the exit code."""
    with suppress(ImportError):
        import_module("readline")  # gives `input` its keys and its history

    echo("Ask about the code. `@path` shows a file or folder; Ctrl-D ends.", err=True)
    while True:
        try:
            question = input("\nask> ").strip()
        except EOFError:
            echo(err=True)
            return 0
        except KeyboardInterrupt:
            echo(err=True)
            continue
        if not question:
            continue
        if question in ("exit", "quit"):
            return 0
        try:
            record = answer_question(question, options)
        except RetraiError as error:
            echo(f"error: {error.message}", err=True)
            if error.hint:
                echo(f"hint: {error.hint}", err=True)
            continue
        except KeyboardInterrupt:
            continue
        if record.data.get("chat_history"):  # not where it ended before anything was found
            options = replace(options, continued=record.id)


async def _answer(question: str, options: AskOptions) -> RunRecord:
    async with RunManager(engine="inline", tell=lambda line: echo(line, err=True)) as manager:
        request = await _prepare_request(manager, question, options)
        run = await manager.submit(request)
        view = AskView(verbose=options.verbose)
        with view, _interrupted_by_signals(run, view):
            shown = asyncio.create_task(_show(run, view))
            try:
                return await run.result()
            finally:
                await asyncio.wait({shown}, timeout=_DRAIN_TIMEOUT_S)
                shown.cancel()
                with suppress(Exception, asyncio.CancelledError):
                    await shown


async def _show(run: Run, view: AskView) -> None:
    async for event in run.events():
        view.hear(event)


async def _prepare_request(manager: RunManager, question: str, options: AskOptions) -> RunRequest:
    """The request, once the user agrees to what the project's own file sets.

    Raises:
        UsageError, PluginError: as `RunManager.prepare`.
    """
    given: dict[str, Any] = {
        **options.settings,
        "agent": _AGENT,
        "goal": [],
        "input": {"question": question},
        "attended": somebody_watches(),
        "continues": await _find_continued_run(manager, options),
    }
    try:
        request = await manager.prepare(options.project, **given)
    except TrustRequired as error:
        if not (options.trusts or _agrees(error)):
            raise
        given["trust"] = error.digest
        request = await manager.prepare(options.project, **given)
    if request.config.model_name == _REPAIRS_ONLY:
        echo("the model offline only fixes code; extractive answers", err=True)
        given["model"] = _EXTRACTIVE
        request = await manager.prepare(options.project, **given)
    return request


async def _find_continued_run(manager: RunManager, options: AskOptions) -> str | None:
    """The run to continue.

    Raises:
        UsageError: there is none.
    """
    if options.continued is None:
        return None
    if options.continued == LATEST:
        for record in await manager.list(project=options.project.resolve(), limit=_LOOKED_AT):
            if not isinstance(record, RunRecord) or record.agent != _AGENT or not record.ended_at:
                continue
            if record.data.get("chat_history"):
                return record.id
        raise UsageError(
            "--continue: no question was asked about this project yet",
            hint="leave --continue out",
        )
    try:
        record = await (await manager.get(options.continued)).record()
    except RunNotFoundError as error:
        raise UsageError(
            f"--continue: {error.message}", hint="`retrai runs list` shows the runs"
        ) from error
    if record.agent != _AGENT:
        raise UsageError(
            f"--continue: run {record.id} is one of the agent {record.agent}, not of {_AGENT}",
            hint="`retrai runs list` shows the runs",
        )
    if record.project != options.project.resolve():
        raise UsageError(
            f"--continue: run {record.id} is about another project, {record.project}",
            hint=f"`-C {shlex.quote(str(record.project))}` names it",
        )
    return record.id


def _agrees(error: TrustRequired) -> bool:
    """Show what the project's file sets and ask once; False where nobody can be asked."""
    if not sys.stdin.isatty():
        return False
    echo(error.message, err=True)
    return click.confirm("Go on with it, now and until one of these changes?", err=True)


@contextmanager
def _interrupted_by_signals(run: Run, view: AskView) -> Generator[None]:
    """The first signal ends the run as interrupted, the second ends the process at once."""
    loop = asyncio.get_running_loop()
    received: list[int] = []
    stopping: list[asyncio.Future[bool]] = []

    def stop() -> None:
        stopping.append(asyncio.ensure_future(run.cancel("interrupted")))
        view.say("stopping; once more stops at once")

    def on_signal(number: int, _: object) -> None:
        received.append(number)
        if len(received) > 1:
            os._exit(_EXIT_INTERRUPTED)
        loop.call_soon_threadsafe(stop)

    # What is ignored stays so: `nohup` and shells without job control mean it.
    before = {
        number: handler
        for number in _SIGNALS
        if (handler := signal.getsignal(number)) != signal.SIG_IGN
    }
    for number in before:
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
