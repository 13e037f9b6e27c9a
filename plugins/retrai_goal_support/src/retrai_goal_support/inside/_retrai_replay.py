"""Makes recorded calls again, where no tests run: what does the project's code answer there?

Started as `python -c`, so that nothing of a run is to be seen. Whatever has effects outside of the
process is forbidden: in the tests it may have been replaced by a fake. Nothing but the standard
library is used, of Python 3.8 on.
"""

from __future__ import annotations

import ast
import base64
import copy
import itertools
import json
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
import types
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any, Dict, Generator, Iterator, List, Tuple, cast

with suppress(ImportError):
    __import__("ctypes")  # a call that imports it first would count as one with effects

CALL_LIMIT_CPU_S, CALL_LIMIT_S = 1.0, 10.0
"""Of one call at most: processor time, which no busy machine uses up, and wall-clock time."""
RECORDED_LIMIT = 4
"""Recorded calls may take so many times as long as their neighbors, all of them together."""
TEST = "test:"
"""A call that is a test of its own: `test:[SOURCE, NAME, {PARAMETER: LITERAL}]`."""
CHECKED = "<checked>"
"""What the file of such a test is called."""
COROUTINE = 0x80
MAX_DIGITS = 20
MAX_LOOKED_AT = 10
"""Near calls that are looked at for each that is made."""
MAX_ITEMS = 100
"""Of an iterator these count."""
FORBIDDEN = (
    "socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
    "os.kill", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink",
    "os.truncate", "os.chmod", "os.chown", "os.utime", "os.putenv", "shutil.", "urllib.", "ftplib.",
    "smtplib.", "http.client.", "ctypes.", "webbrowser.", "sqlite3.connect", "signal.",
)  # fmt: skip
ON_TEMPORARY = ("os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree")
"""Allowed where the path is one that `tempfile` has just made."""
CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
LATER_S = 3600.0
cpu_time = time.process_time
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Forbidden(BaseException):
    """The call has effects outside of the process, or takes too long."""


class Player:
    """Makes calls and renders their answers.

    Args:
        root: the project.
        rendering: the module that renders values, by name.
        finder: hides the runner of tests, until a module needs it.
        call_limit_cpu_s: seconds of processor time that one call may take.
    """

    def __init__(
        self, root: str, rendering: Dict[str, Any], finder: Any, call_limit_cpu_s: float
    ) -> None:
        self.call_limit_cpu_s = call_limit_cpu_s
        self.rendering = types.SimpleNamespace(**rendering)
        self.values = self.rendering.Values(self.rendering.own_files(root))
        self.finder = finder
        self.ahead_s, self.later_s = 0.0, LATER_S
        for name in CLOCKS:
            setattr(time, name, self.ahead(getattr(time, name)))
        # The folder itself is opened for a file without a name.
        self.harmless = (os.devnull, tempfile.gettempdir())
        self.temporary: List[str] = []
        self.loop: Any = None
        self.playing = False
        self.had_effect = False

    def ahead(self, clock: Any) -> Any:
        """A clock, as much ahead as the others: a process is not told by its age."""
        return lambda: clock() + self.ahead_s

    def is_temporary(self, path: Any, folder: Any = -1) -> bool:
        """Whether a path is one that `tempfile` has made, or lies below; `folder` is the descriptor
        of the folder that it begins at."""
        if isinstance(folder, int) and folder >= 0:
            path = os.path.realpath(os.path.join("/proc/self/fd", str(folder), path))
        return any(str(path) == one or str(path).startswith(one + os.sep) for one in self.temporary)

    def forbid(self) -> None:
        """End the call; where its code goes on all the same, its answer does not count."""
        self.had_effect = True
        raise Forbidden

    def hear(self, event: str, args: Tuple[Any, ...]) -> None:
        """The audit hook."""
        if event == "import" and self.finder.is_runner(str(args[0])):
            if self.playing and self.finder.hides:
                self.forbid()
            self.finder.hides = False
        if not self.playing:
            return
        if event == "open":
            mode, flags = args[1], args[2]
            writes = any(one in str(mode or "r") for one in "wax+") if mode else flags & WRITES
            if writes and args[0] not in self.harmless and not self.is_temporary(args[0]):
                self.forbid()
        elif event.startswith("tempfile."):
            if not os.path.lexists(args[0]):
                self.temporary.append(args[0])
        elif event in ON_TEMPORARY and self.is_temporary(args[0], args[-1]):
            return
        elif event.startswith(FORBIDDEN):
            self.forbid()

    @contextmanager
    def forbid_effects(self) -> Generator[None, None, None]:
        """While it lasts, the project's code runs, and may have no effects."""
        self.ahead_s = self.later_s  # the modules are loaded
        self.playing = True
        signal.setitimer(signal.ITIMER_PROF, self.call_limit_cpu_s)
        signal.setitimer(signal.ITIMER_REAL, CALL_LIMIT_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.playing = False

    def ask(self, answer: Any, *args: Any) -> str:
        """What `answer` or `outcome` says; empty where that cannot be told."""
        self.had_effect = False
        try:
            found = str(answer(*args))
        except (Exception, SystemExit):  # noqa: BLE001 - any object's or module's own code
            return ""
        return "" if self.had_effect else found

    def load(self, name: str) -> None:
        """Import a module of the project, which may register something, as the tests did first."""
        with suppress(Exception, SystemExit):  # any module's own code
            for end in [at for at, letter in enumerate(name + ".") if letter == "."]:
                spec = find_spec(name[:end])
                if spec is None or not self.values.is_own_file(str(spec.origin)):
                    return
                __import__(name[:end])

    def answer(self, call: Tuple[str, str, List[Any], Dict[str, Any]]) -> str:
        """What one call answers."""
        module, name, args, named = copy.deepcopy(call)
        __import__(module)
        function = self.rendering.find_function(module, name)
        if function is None:
            return ""
        if function.__code__.co_flags & COROUTINE and self.loop is None:
            self.loop = __import__("asyncio").new_event_loop()
        pairs = self.rendering.pairs_of(function.__code__, args, named)
        before = [self.values.text(value) for _, value in pairs]
        try:
            with self.forbid_effects():
                given = function(*args, **named)
                if isinstance(given, types.CoroutineType):
                    given = self.loop.run_until_complete(given)
                elif isinstance(given, types.GeneratorType):
                    given = list(itertools.islice(cast("Iterator[Any]", given), MAX_ITEMS))
            shown: str = self.values.text(given)
        except Forbidden:
            return ""
        except (SystemExit, Exception) as error:  # noqa: BLE001 - an answer like any other
            shown = self.values.error(error)
        return shown + str(self.rendering.changes(self.values, pairs, before))

    def outcome(self, source: str, name: str, given: Dict[str, str]) -> str:
        """What becomes of a test that is a plain function."""
        names: Dict[str, Any] = {"__name__": "checked"}
        try:
            values = {one: ast.literal_eval(text) for one, text in given.items()}
            exec(compile(source, CHECKED, "exec"), names)
            with self.forbid_effects():
                function, _, method = name.partition("::")
                test = getattr(names[function](), method) if method else names[function]
                test(**values)
        except AssertionError as error:
            walked = traceback.walk_tb(error.__traceback__)
            lines = [line for frame, line in walked if frame.f_code.co_filename == CHECKED]
            return "fails at line %d" % lines[-1]
        except (Forbidden, SystemExit, ImportError, OSError):
            return ""  # what lies among the tests is not there
        except Exception as error:  # noqa: BLE001 - an outcome like any other
            return "raises %s" % type(error).__qualname__
        return "passes"


def neighbors(value: Any) -> Iterator[Any]:
    """Values of the same type that are near, or at a boundary."""
    if isinstance(value, bool):
        yield not value
    elif type(value) is int:
        near = (value + 1, value - 1, value + 10, value - 10, value * 10, -value, value // 2, 0, 1)
        yield from (one for one in near if one != value)
    elif type(value) is float:
        yield from (value + 1.0, value - 1.0, -value, value * 10, value / 2, 0.0)
    elif type(value) is str and value.lstrip("-").isdigit() and len(value) < MAX_DIGITS:
        yield from map(str, neighbors(int(value)))
    elif type(value) is str and not set(value) & set("/\\"):
        yield from (
            value[:-1],
            value[1:],
            value * 2,
            value.upper(),
            value.swapcase(),
            value + " ",
            "",
        )
    elif type(value) in (list, tuple):
        yield from (value[:-1], value[1:], value[::-1], value * 2, value[:0])
        for at, item in enumerate(value[:3]):
            for one in list(neighbors(item))[:3]:
                yield type(value)([*value[:at], one, *value[at + 1 :]])
    elif type(value) is dict:
        keys: List[Any] = list(cast("Dict[Any, Any]", value))
        for key in keys[:3]:
            yield {one: value[one] for one in keys if one != key}
            for one in list(neighbors(value[key]))[:3]:
                yield {**value, key: one}


def near_calls(call: Tuple[str, str, List[Any], Dict[str, Any]]) -> Iterator[Any]:
    """Calls that differ from this one in one argument."""
    module, name, args, named = call
    for at, value in enumerate(args):
        for one in neighbors(value):
            yield module, name, [*args[:at], one, *args[at + 1 :]], named
    for key, value in named.items():
        for one in neighbors(value):
            yield module, name, args, {**named, key: one}


def rings(calls: List[Any]) -> Iterator[Any]:
    """The calls near these, then the calls near those, and so on without an end."""
    while calls:
        farther: List[Any] = []
        for near in in_turn([near_calls(call) for call in calls]):
            farther.append(near)
            yield near
        calls = farther


def in_turn(several: List[Iterator[Any]]) -> Iterator[Any]:
    """The first of each, the second of each, and so on."""
    for some in itertools.zip_longest(*several):
        yield from (one for one in some if one is not None)


def play(job: Dict[str, Any], player: Player) -> Iterator[Dict[str, Any]]:
    """The answer of each call, then those of their neighbors, as far as they can be told; last, the
    late answers: of calls that answered the same twice, and twice something else after all others.
    """
    calls: List[Any] = []
    first: Dict[int, Tuple[bytes, str]] = {}
    begun = cpu_time()  # the modules are loaded
    for at, text in enumerate(job["calls"]):
        if cpu_time() - begun > RECORDED_LIMIT * job["cpu_s"]:
            break
        if text.startswith(TEST):
            yield {"at": at, "answer": player.ask(player.outcome, *json.loads(text[len(TEST) :]))}
            continue
        data = base64.b64decode(text)
        call = unpacked(data)
        if call is not None:
            answer = player.ask(player.answer, call)
            first[at] = data, answer
            yield {"at": at, "answer": answer}
            calls.append(unpacked(data))  # the call may have changed its arguments
    took_s = cpu_time() - begun
    looks_later = job["late"] and took_s < job["cpu_s"] / 4
    again = ask_again(first, player) if looks_later else {}
    yield from play_neighbors(calls, job, player, took_s)
    if looks_later:
        # Three hours on: an hourly rate limit has been reset by then.
        player.later_s = 3 * LATER_S
        late, still_late = ask_again(first, player), ask_again(first, player)
        for at, (_, answer) in first.items():
            if answer == again[at] != late[at] == still_late[at]:
                yield {"at": at, "answer": late[at], "late": True}


def ask_again(calls: Dict[int, Tuple[bytes, str]], player: Player) -> Dict[int, str]:
    """What calls answer now, in their order."""
    return {at: player.ask(player.answer, unpacked(data)) for at, (data, _) in calls.items()}


def play_neighbors(
    calls: List[Any], job: Dict[str, Any], player: Player, used_s: float
) -> Iterator[Dict[str, Any]]:
    """The answers of calls near these; so many seconds of their processor time are used."""
    end = cpu_time() + job["cpu_s"] - used_s
    seen = {player.values.call(call[1], call[2], call[3]) for call in calls}
    left = job["neighbors"]
    # Most of a far ring has been seen: what is looked at is limited, too.
    for near in itertools.islice(rings(calls), MAX_LOOKED_AT * left):
        if left == 0 or cpu_time() > end:
            return
        name = player.values.call(near[1], near[2], near[3])
        if name not in seen:
            left -= 1
            seen.add(name)
            answer = player.ask(player.answer, near)
            # One that is another each time, or an hour later, says nothing of a change.
            player.later_s = 2 * LATER_S
            again = answer and player.ask(player.answer, near)
            player.later_s = LATER_S
            yield {"call": name, "answer": answer if answer == again else ""}


def unpacked(data: bytes) -> Any:
    """The call; None where its arguments cannot be made here."""
    with suppress(Exception):  # any object's own code
        return pickle.loads(data)
    return None


def main(job: Dict[str, Any], rendering: Dict[str, Any], finder: Any) -> None:
    """Play the calls of a job.

    Args:
        job: `root`, `paths` (for imports), `modules` (to be imported first), `calls`, `neighbors`
            (at most so many, until `cpu_s` seconds of processor time are used), `late` (whether to
            tell late answers), `answers` (the file to write to).
        rendering: the module that renders values, by name.
        finder: hides the runner of tests.
    """
    sys.path[:] = job["paths"]
    player = Player(job["root"], rendering, finder, min(CALL_LIMIT_CPU_S, job["cpu_s"] / 2))
    for name in job["modules"]:
        player.load(name)
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, lambda number, frame: player.forbid())
    sys.addaudithook(player.hear)
    with open(job["answers"], "a") as out:
        for line in play(job, player):
            if line["answer"]:
                out.write(json.dumps(line) + "\n")
                out.flush()
