"""A pytest session that is collected once and then tries candidates, a fork for each handful."""

from __future__ import annotations

import json
import os
import sys
import time
from functools import partial
from types import CodeType, FunctionType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from . import limits
from .examples import wrong_examples
from .forks import Child, Message, Send
from .hotswap import ImportNeededError, LiveFunctions, Patch, restore
from .override import Overrides
from .project import Project
from .running import CRASHED, TIMED_OUT, Runner, traced

NEEDS_IMPORT = "n"
INVALID = "i"


class Attempt:
    """A candidate as the session needs it: new code for functions, or whole new texts."""

    def __init__(self, patches: Sequence[Patch], texts: Mapping[str, str]) -> None:
        self.patches = list(patches)
        self.texts = dict(texts)

    def to_message(self) -> Message:
        """For the pipe."""
        return {"patches": [list(patch) for patch in self.patches], "texts": self.texts}


class Session:
    """The parent's side: commands go to the forked session, answers come back as JSON lines."""

    def __init__(
        self, project: Project, arguments: Sequence[str], overrides: Overrides, wall_s: float
    ) -> None:
        reading, self._writing = os.pipe()
        server = _Server(project, list(arguments), overrides, reading)
        self._child = Child(server.main)
        os.close(reading)
        self.cpu_s = 0.0
        started = self._child.next_message(wall_s) or {}
        self.nodes: List[str] = started.get("nodes", [])
        self.errors: Dict[str, str] = started.get("errors", {})
        self.loaded: Set[str] = set(started.get("loaded", []))
        self.started = bool(started)
        silent = "" if started else "the pytest session ended while it collected the tests"
        self.usage: str = started.get("usage", silent)

    def ask(self, command: Message, wall_s: float) -> List[Message]:
        """Send a command; the answers up to the one that says it is done, or to its death."""
        data = json.dumps(command).encode("utf-8") + b"\n"
        try:
            while data:
                data = data[os.write(self._writing, data) :]
        except OSError:
            return []
        answers: List[Message] = []
        while True:
            message = self._child.next_message(wall_s)
            if message is None:
                return answers
            if "cpu_s" in message:
                self.cpu_s = float(message["cpu_s"])
                return answers
            answers.append(message)

    def close(self) -> None:
        """End the session and reap it."""
        try:
            os.close(self._writing)
        except OSError:
            pass
        self._child.end()
        self.cpu_s = max(self.cpu_s, self._child.cpu_s)


class _Server:
    """The forked side: runs pytest's collection, then answers commands until the pipe closes."""

    def __init__(
        self, project: Project, arguments: List[str], overrides: Overrides, reading: int
    ) -> None:
        self.project = project
        self.arguments = arguments
        self.overrides = overrides
        self.reading = reading
        self.send: Send = lambda message: None
        self.items: List[Any] = []
        self.errors: Dict[str, str] = {}
        self.live: Optional[LiveFunctions] = None

    def main(self, send: Send) -> None:
        """Collect, then serve."""
        import pytest

        self.send = send
        self.overrides.install()
        status = pytest.main(self.arguments, plugins=[_Plugin(self)])
        if self.live is None:
            send(
                {
                    "nodes": [],
                    "errors": self.errors,
                    "usage": "pytest ended with %s before any test" % status,
                }
            )

    def serve(self, items: Sequence[Any]) -> None:
        """Answer commands from the pipe."""
        self.items = list(items)
        self.live = LiveFunctions(self.project.root)
        loaded = {
            os.path.realpath(str(getattr(m, "__file__", "") or ""))
            for m in list(sys.modules.values())
        }
        self.send(
            {
                "nodes": [item.nodeid for item in self.items],
                "errors": self.errors,
                "loaded": sorted(path for path in loaded if path.startswith(self.project.root)),
            }
        )
        with os.fdopen(self.reading, "rb") as stream:
            for line in stream:
                command = json.loads(line)
                getattr(self, "do_" + command["do"])(command)
                used = os.times()
                self.send({"cpu_s": used[0] + used[1] + used[2] + used[3]})

    def do_outcomes(self, command: Message) -> None:
        """Run every test in order; a test that ends its process is noted and the rest go on."""
        left = list(command["tests"])
        official = set(command.get("official", []))
        while left:
            child = Child(partial(self._outcomes, left, official, command))
            done = 0
            last: Message = {}
            for message in child.messages(float(command["silence_s"])):
                self.send(message)
                last = message
                done += 1
            if done < len(left) and last.get("outcome") != TIMED_OUT:
                self.send(
                    {
                        "test": left[done],
                        "outcome": TIMED_OUT if child.timed_out else CRASHED,
                        "s": 0.0,
                    }
                )
                done += 1
            left = left[done:]

    def _outcomes(self, tests: List[int], official: Set[int], command: Message, send: Send) -> None:
        limits.limit_memory()
        runner = Runner(self.items, float(command["cpu_s"]), float(command["wall_s"]))
        for position, index in enumerate(tests):
            following = self.items[tests[position + 1]] if position + 1 < len(tests) else None
            begun = time.process_time()
            letter = runner.one(index, following, index in official)
            send({"test": index, "outcome": letter, "s": round(time.process_time() - begun, 5)})
            if letter == TIMED_OUT:
                return

    def do_spectra(self, command: Message) -> None:
        """Run tests one by one under a tracer, each in its own process."""
        deadline = time.monotonic() + float(command["budget_s"])
        for index in command["tests"]:
            child = Child(partial(self._trace, index, command))
            for message in child.messages(float(command["silence_s"])):
                self.send(message)
            if time.monotonic() > deadline:
                return

    def _trace(self, index: int, command: Message, send: Send) -> None:
        limits.limit_memory()
        runner = Runner(self.items, float(command["cpu_s"]), float(command["wall_s"]))
        outcome, lines = traced(
            lambda: runner.one(index, None, False), self.project.root, self.project.skipped
        )
        send({"test": index, "outcome": outcome, "lines": lines})

    def do_try(self, command: Message) -> None:
        """Try candidates in order; each answer carries the letters of its tests."""
        attempts: List[Message] = command["attempts"]
        size = max(1, int(command["batch"]))
        position = 0
        while position < len(attempts):
            upper = min(len(attempts), position + size)
            child = Child(partial(self._attempts, attempts, position, upper, command))
            reached, complete = position, False
            for message in child.messages(float(command["silence_s"])):
                complete = bool(message.get("end"))
                if "at" in message:
                    self.send(message)
                    reached = int(message["at"]) + 1
            if reached == position or (reached < upper and not complete):
                letter = TIMED_OUT if child.timed_out else CRASHED
                self.send({"at": reached, "outcome": letter + "?" * (len(command["tests"]) - 1)})
                reached += 1
            position = reached

    def _attempts(
        self, attempts: List[Message], first: int, upper: int, command: Message, send: Send
    ) -> None:
        limits.limit_memory()
        tests: List[int] = command["tests"]
        official = set(command.get("official", []))
        runner = Runner(self.items, float(command["cpu_s"]), float(command["wall_s"]))
        live = self.live
        assert live is not None
        for position in range(first, upper):
            attempt = attempts[position]
            try:
                undo = self._install(live, attempt)
            except ImportNeededError:
                send({"at": position, "outcome": NEEDS_IMPORT})
                continue
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                send({"at": position, "outcome": INVALID})
                continue
            outcome = runner.run(tests, official, bool(command.get("stop")))
            message: Message = {"at": position, "outcome": outcome}
            if command.get("examples") and TIMED_OUT not in outcome:
                changed = [function for function, _ in undo]
                message["wrong"] = wrong_examples(changed, runner.cpu_s, runner.wall_s)
            send(message)
            if TIMED_OUT in outcome:
                break
            restore(undo)
            if attempt["texts"]:
                break
            live.clear_caches()
        send({"end": True})

    def _install(
        self, live: LiveFunctions, attempt: Message
    ) -> List[Tuple[FunctionType, CodeType]]:
        for path, text in attempt["texts"].items():
            compile(text, path, "exec", dont_inherit=True)
            self.overrides.texts[path] = text
        return live.swap([Patch(*patch) for patch in attempt["patches"]])


class _Plugin:
    """Takes over pytest's test loop."""

    def __init__(self, server: _Server) -> None:
        self._server = server

    def pytest_collectreport(self, report: Any) -> None:
        """Remember what could not be collected."""
        if report.failed:
            self._server.errors[str(report.nodeid)] = str(report.longrepr)[-2000:]

    def pytest_runtestloop(self, session: Any) -> bool:
        """Serve candidates in place of running the tests."""
        self._server.serve(session.items)
        return True
