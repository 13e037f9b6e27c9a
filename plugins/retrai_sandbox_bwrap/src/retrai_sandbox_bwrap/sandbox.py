"""The sandbox with walls: each command in namespaces of its own, made by bubblewrap."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import ClassVar, Unpack

from retrai_core import (
    CommandOptions,
    Completed,
    ProcessRunner,
    RunContext,
    Sandbox,
    ToolError,
    View,
    command_words,
)

from .cgroup import ControlGroup, make_group
from .mounts import Request, bwrap_arguments
from .options import BwrapOptions
from .owner import Owner, loader_variables, open_namespace, owner_of
from .processes import few_numbers, process_limit
from .program import INSTALL, explain, programs
from .repository import Detour
from .scratch import Scratch
from .system_calls import open_filter
from .walls import Walls, build_walls, places_of_program, state_folder
from .watch import Bounds, Watch, machine_memory_bytes

_FATAL = frozenset(
    {
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGKILL,
        signal.SIGSEGV,
        signal.SIGSYS,
        signal.SIGTERM,
        signal.SIGTRAP,
        signal.SIGXCPU,
        signal.SIGXFSZ,
    }
)
_PROBE_TIMEOUT_S = 20.0
_FILTER = 64
"""The descriptor at which bubblewrap finds the filter of system calls."""
_NOT_STARTED = ("bwrap: execvp", "prlimit: failed to exec", "setpriv: failed to exec")
"""What a program that starts the command says where it cannot."""
_NAMESPACE = 65
"""The descriptor at which it finds the user namespace to run in, where it does not make one."""
_RESTORE = 'while [ "$1" != -- ]; do export "$1"; shift; done; shift; exec "$@"'
"""A shell line that sets variables, up to `--`, for the program after it."""
_numbers = itertools.count()
"""Tells the control groups of one process apart."""


class BwrapSandbox(Sandbox[BwrapOptions]):
    """Runs commands under bubblewrap (https://github.com/containers/bubblewrap).

    The system is there to be read, the project to be written; the home folder, /tmp and /run are
    empty but for tool chains, without credentials. There is no network unless the run needs it, and
    no other process to be seen. As root, commands are `nobody` and have no privilege; in a project
    of another user's they are that user.
    """

    name: ClassVar[str] = "bwrap"
    summary: ClassVar[str] = (
        "isolates commands with bubblewrap: no home folder, no network, no keys"
    )
    arranges_view: ClassVar[bool] = True

    def __init__(self, options: BwrapOptions, context: RunContext) -> None:
        super().__init__(options, context)
        self._processes = ProcessRunner(context, options)
        self._program = ""
        self._walls: Walls | None = None
        self._scratch = Scratch()
        self._network: bool | None = None
        self._group: ControlGroup | None = None
        self._filter: int | None = None
        self._owner: Owner | None = None
        self._namespace: int | None = None
        self._inside = process_limit(self.options.processes)
        self._around: list[str] = []
        self._opens: dict[int, str] = {}

    async def probe(self) -> str | None:
        """Run the project's interpreter under each bubblewrap there is, until one works."""
        candidates = programs()
        if not candidates:
            return f"there is no bubblewrap: {INSTALL}"
        await self._find_owner()
        problem = ""
        for program, filtered in itertools.product(candidates, (True, False)):
            self._choose(program, filtered)
            problem = await self._try()
            if not problem:
                await self._bind_processes()
                if _FILTER not in self._opens:
                    self._warn("there is no filter of system calls")
                return None
        self._program = ""
        return problem

    def _choose(self, program: str, filtered: bool) -> None:
        self._program = program
        if filtered and self._filter is None:
            self._filter = open_filter()
        known = filtered and self._filter is not None
        self._opens = {_FILTER: f"/proc/{os.getpid()}/fd/{self._filter}"} if known else {}
        if self._namespace is not None:
            self._opens[_NAMESPACE] = f"/proc/{os.getpid()}/fd/{self._namespace}"

    async def _find_owner(self) -> None:
        """Find whose rights commands shall have, once."""
        if self._walls is not None or self._namespace is not None:
            return
        owner = await asyncio.to_thread(owner_of, self.context.project, self.context.python)
        if owner is not None:
            with suppress(OSError):  # the trial tells what comes of that
                self._namespace = await asyncio.to_thread(open_namespace, owner)
                self._owner = owner

    async def _try(self) -> str:
        """Run the project's interpreter; what is wrong, or nothing."""
        try:
            trial = _trial(self.context, self._owner)
            done = await self.run(trial, timeout_s=_PROBE_TIMEOUT_S)
        except ToolError as error:
            return explain(error.message)
        if done.timed_out:
            return (
                f"the trial, which starts {self.context.python} in it, had not ended after "
                f"{_PROBE_TIMEOUT_S:g} s"
            )
        return "" if done.exit_code == 0 else explain(done.stderr or done.stdout)

    async def run(
        self, command: Sequence[str] | str, **options: Unpack[CommandOptions]
    ) -> Completed:
        """Run a program or a shell line; see `Sandbox.run`."""
        view = options.get("view") or View()
        writable, readable = options.get("writable", ()), options.get("readable", ())
        await self._find_owner()
        if not self._program:
            self._choose(next(iter(programs()), "bwrap"), filtered=True)
        if self._walls is None:
            self._walls = await asyncio.to_thread(
                build_walls, self.context, self.options, os.environ, self._owner
            )
        if self._group is None:
            bounds = self._bounds()
            self._group = make_group(next(_numbers), bounds.processes, bounds.memory_bytes)
        folder = options.get("cwd") or self.context.project
        trusted = self._owner.variables(self.context.project) if self._owner else {}
        variables = {"TMPDIR": "/tmp", **trusted, **(options.get("env") or {})}
        path = variables.get("PATH", os.environ.get("PATH", os.defpath))
        argv = command_words(command, path)
        if not folder.is_dir():
            raise ToolError(f"cannot run in {str(folder)!r}: no such folder")
        scratch = await asyncio.to_thread(self._scratch.folder, view.scratch)
        if self._owner is not None:
            given = [*view.shown.values(), *writable, *readable, scratch / "cache"]
            await asyncio.to_thread(self._owner.give, given, state_folder(self.context.run_dir))
        reach = [self.context.project, *view.shown.values(), *writable]
        request = Request(
            project=self.context.project,
            cwd=folder,
            view=view,
            scratch=scratch,
            writable=writable,
            readable=[*readable, *places_of_program(argv[0], self._walls, reach)],
            network=self._has_network(),
            named=variables.keys(),
            owner=self._owner,
        )
        ending = self._ending(argv, variables)
        options["cwd"], options["env"] = None, variables
        try:
            for last in (False, False, True):
                arguments = bwrap_arguments(self._walls, request)
                words = [*self._around, self._program, *arguments, *ending]
                done, verdict = await self._start(words, self._group, scratch, options)
                if last or not _has_lost_socket(done, self._walls.sockets):
                    break
        finally:
            await asyncio.to_thread(self._scratch.give_back, scratch)
        return _unwrap_result(done, argv, verdict)

    async def _start(
        self, words: Sequence[str], group: ControlGroup, scratch: Path, options: CommandOptions
    ) -> tuple[Completed, str]:
        """What came of the command line, and what the sandbox ended it for, or nothing."""
        detour = Detour(self.context.project)
        watch = Watch(words, self._bounds(), [self.context.project, scratch])
        kills = group.memory_kills()
        looking = asyncio.ensure_future(watch.look())
        try:
            done = await self._processes.run(
                words,
                wraps=True,
                joins=group.joins,
                opens=self._opens,
                streams_owner=(self._owner.uid, self._owner.gid) if self._owner else None,
                **options,
            )
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking
            told = detour.remove()
        done = replace(done, stderr=done.stderr + told)
        if not watch.verdict and group.memory_kills() > kills:
            note = "[the kernel ended a process: there was no more memory (total_memory_bytes)]\n"
            done = replace(done, stderr=done.stderr + note)
        return done, watch.verdict

    async def aclose(self) -> None:
        """End what is still running, and remove the run's temporary files."""
        await self._processes.aclose()
        await asyncio.to_thread(self._scratch.close)
        if self._group is not None:
            await asyncio.to_thread(self._group.remove)
            self._group = None
        if self._filter is not None:
            os.close(self._filter)
        if self._namespace is not None:
            os.close(self._namespace)
        self._filter, self._namespace, self._opens = None, None, {}

    def _ending(self, argv: Sequence[str], variables: dict[str, str]) -> list[str]:
        """The last arguments of bubblewrap: the filter, who the command is, and the command."""
        words = ["--seccomp", str(_FILTER)] if _FILTER in self._opens else []
        restored = self._hold_back(variables)
        if self._owner is None:
            for name, value in restored.items():
                words += ["--setenv", name, value]
            return [*words, "--", *self._inside, *argv]
        words += ["--userns", str(_NAMESPACE), *self._owner.capabilities()]
        words += ["--", *self._owner.words()]
        if restored:
            words += ["/bin/sh", "-c", _RESTORE, "sh"]
            words += [*(f"{name}={value}" for name, value in restored.items()), "--"]
        return [*words, *argv]

    def _hold_back(self, variables: dict[str, str]) -> dict[str, str]:
        """Take the variables of the loader from `variables`; what the command itself is to have.

        Libraries that a command left in the project are not for bubblewrap.
        """
        passed = ("LD_LIBRARY_PATH", *self.options.pass_env)
        known = {
            name: value
            for name, value in os.environ.items()
            if any(fnmatchcase(name, pattern) for pattern in passed)
        }
        known.update(variables)
        held = {name: known[name] for name in loader_variables(known)}
        variables.update(dict.fromkeys(held, ""))  # which the loader takes for not set
        return held

    def _has_network(self) -> bool:
        if self._network is not None:
            return self._network
        if self.options.network != "auto":
            return self.options.network == "on"
        goal = self.context.goal_part
        # A tool that only asks the network itself does so in retrai's own process.
        wanted = any({"run", "network"} <= tool.needs for tool in self.context.tools.values())
        if goal is None:
            return wanted
        # Decided once: the baseline and later checks run alike, whatever tools come meanwhile.
        self._network = wanted or "network" in goal.needs
        return self._network

    def _bounds(self) -> Bounds:
        chosen = self.options
        memory = chosen.total_memory_bytes or machine_memory_bytes() * 4 // 5
        return Bounds(chosen.processes, memory, chosen.disk_bytes)

    async def _bind_processes(self) -> None:
        """Find what bounds the number of processes here, or say that nothing does."""
        if self._inside or (self._group and "pids" in self._group.binds):
            return
        self._around = few_numbers(self.options.processes, as_root=self._owner is not None)
        if self._around and not await self._try():
            return
        self._around = []
        self._warn("no limit binds the number of processes here (no control group)")

    def _warn(self, what: str) -> None:
        self.context.publish("log", level="warning", message=f"sandbox bwrap: {what}")


def _trial(context: RunContext, owner: Owner | None) -> list[str]:
    """What a probe runs: it looks whether the project is writable and the interpreter starts."""
    uid = context.project.stat().st_uid
    line = '[ -z "$1" ] || exec "$1" -I -S -c ""'
    # What its own mode or a read-only mount forbids, it forbids without a sandbox too.
    if owner is None and uid != os.getuid() and os.access(context.project, os.W_OK):
        line = (
            f'[ -w . ] || {{ echo "the project cannot be written (it belongs to user {uid}, '
            f'retrai runs as {os.getuid()})" >&2; exit 1; }}; {line}'
        )
    return ["/bin/sh", "-c", line, "probe", context.python if os.path.isabs(context.python) else ""]


def _has_lost_socket(done: Completed, sockets: Sequence[Path]) -> bool:
    """Whether nothing was started, as a service ended before its socket could be covered."""
    first = done.stderr.partition("\n")[0]
    failed = done.exit_code == 1 and first.startswith("bwrap: Can't ")
    return failed and any(f" {path}: " in first for path in sockets)


def _unwrap_result(done: Completed, argv: Sequence[str], verdict: str) -> Completed:
    """What came of a command, as if bubblewrap had not stood in between.

    Raises:
        ToolError: it was not started.
    """
    number = done.exit_code - 128
    if number in _FATAL:  # as a shell would say it
        return _unwrap_result(replace(done, exit_code=-number), argv, verdict)
    if verdict:
        return replace(done, stderr=f"{done.stderr}[ended by the sandbox: {verdict}]\n")
    first = done.stderr.partition("\n")[0]
    if done.exit_code in (1, 126, 127) and not done.stdout:
        if first.startswith(_NOT_STARTED):
            if "ermission denied" in first:
                raise ToolError(f"the program {argv[0]!r} may not be executed")
            raise ToolError(
                f"the program {argv[0]!r} does not exist, is not on PATH, or is hidden in the "
                "sandbox (`plugins: {bwrap: {show: [FOLDER]}}` shows a folder)"
            )
        if first.startswith("bwrap: "):
            raise ToolError(f"the sandbox cannot start {argv[0]!r}: {first}")
    return done
