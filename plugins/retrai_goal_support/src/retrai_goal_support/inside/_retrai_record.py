"""Records what the project's code answers its tests: the outermost calls from test code into it.

Python's trace function tells of each new frame; only the outermost one of the project's own code is
followed, to its end. Nothing but the standard library is used, of Python 3.7 on.
"""

from __future__ import annotations

import base64
import dis
import inspect
import linecache
import os
import pickle
import sys
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from _retrai_values import (
    TEST_NAME,
    OwnFile,
    Pairs,
    Values,
    changes,
    find_function,
    own_files,
    pairs_of,
)

MAX_CALLS = 200
MAX_FRAMES = 300000
"""After so many frames in one test it is not followed any more, and nothing is said of it."""
MAX_PICKLE = 8000
MAX_SIZE = 20000000
"""Characters of all records together; what comes after is not recorded."""
MAX_SHARE, MAX_START_S = 0.2, 1.0
"""Of the time since the start recording may take this share, and these seconds."""
FRAME_S, CALL_S, VALUE_S = 4e-7, 1e-4, 3e-6
"""What a frame, a call and a value in its text cost, measured with Python 3.11 (upper bounds)."""
_RETURNS = {dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in dis.opmap}
# Where a generator stands when it gives a value: at the next instruction from Python 3.13 on.
_YIELDS = {dis.opmap[name] for name in ("YIELD_VALUE", "RESUME") if name in dis.opmap}
_GENERATOR, _ASYNC_GENERATOR, _COROUTINE = 0x20, 0x200, 0x80 | 0x200

WRITTEN = (type(None), bool, int, float, str, bytes, list, tuple, dict, set)
"""Types whose values may be written down as they look."""
__all__ = ["WRITTEN", "Recorder", "own_files"]

Call = List[str]
"""The call, its answer, and what makes the same call again; empty where nothing can."""


class Recorder:
    """Follows the calls of one test at a time.

    Args:
        root: the folder that the tests run in.
        is_own: whether a file is the project's.

    Attributes:
        on_answer: called after each call that was recorded.
    """

    max_frames, max_calls, max_size = MAX_FRAMES, MAX_CALLS, MAX_SIZE

    def __init__(self, root: str, is_own: OwnFile) -> None:
        self.on_answer: Callable[[], None] = lambda: None
        self.root = os.path.realpath(root) + os.sep
        self.values = Values(is_own)
        self.tests: Dict[str, bool] = {}
        self._known: Dict[str, bool] = {}
        self._began, self._cost_s = time.perf_counter(), 0.0
        self.size = 0
        self._clear()

    def _clear(self) -> None:
        self.calls: List[Call] = []
        self.yielded: Dict[int, int] = {}
        self.suspended: Dict[Any, _Followed] = {}
        self.frames = 0
        self.inside = False
        self.incomplete = False

    def start(self) -> None:
        """Begin, or go on, with a test; nothing is recorded where another traces already, or where
        recording takes too much of the time."""
        allowed = MAX_START_S + MAX_SHARE * (time.perf_counter() - self._began)
        if sys.gettrace() is None and self._cost_s < allowed:
            sys.settrace(self._trace)
        else:
            self.incomplete = True

    def pause(self) -> None:
        """The phase of the test is over."""
        if sys.gettrace() == self._trace:
            sys.settrace(None)
        else:
            self.incomplete = True
        self.inside = False

    def take(self) -> Optional[List[Call]]:
        """The calls of the test that has ended; None where not all of them could be followed."""
        calls = None if self.incomplete else self.calls
        self._cost_s += self.frames * FRAME_S + len(self.calls) * CALL_S
        self._cost_s += self.values.rendered * VALUE_S
        self.values.rendered = 0
        self._clear()
        return calls

    def _trace(self, frame: Any, event: str, arg: Any) -> Any:
        self.frames += 1
        if self.frames > self.max_frames:
            self.incomplete = True
            sys.settrace(None)
        if self.inside or self.incomplete:
            return None
        code = frame.f_code
        name = code.co_filename
        own = self._known.get(name)
        if own is None:
            own = self._known[name] = self.is_projects(name)
        if not own:
            return None
        suspended = self.suspended.pop(frame, None)
        if suspended is None and not self.is_worth_following(frame):
            return None
        self.inside = True
        frame.f_trace_lines = False
        if suspended is not None:
            return suspended.local
        if len(self.calls) >= self.max_calls or self.size > self.max_size:
            self.incomplete = True
        if code.co_name == "<module>" or self.incomplete:
            return _Followed(self, "", "", []).local
        return _Followed(self, *self._call(frame)).local

    def is_projects(self, name: str) -> bool:
        """Whether a file is the project's source, and no test."""
        if not self.values.is_own_file(name):
            return False
        real = os.path.realpath(name)
        return not TEST_NAME.search(real[len(self.root) :]) and not self.tests.get(real)

    def is_worth_following(self, frame: Any) -> bool:
        """Whether a call of the project's code is to be followed, and not what it calls."""
        return True

    def _call(self, frame: Any) -> Tuple[str, str, Pairs]:
        code = frame.f_code
        name, function, args, named = arguments_of(frame)
        again = ""
        if function is not None and not code.co_flags & (_GENERATOR | _ASYNC_GENERATOR):
            module = module_name(frame.f_globals)
            again = packed(module, name, args, named) if module else ""
        return self.values.call(name, args, named), again, pairs_of(code, args, named)


class _Followed:
    """One call until it ends."""

    def __init__(self, recorder: Recorder, shown: str, again: str, arguments: Pairs) -> None:
        self.recorder, self.shown, self.again = recorder, shown, again
        self.arguments = arguments
        self.error: Optional[BaseException] = None
        self.before = [recorder.values.text(value) for _, value in self.arguments]

    def local(self, frame: Any, event: str, arg: Any) -> Any:
        if event == "exception":
            self.error = arg[1] if isinstance(arg[1], BaseException) else None
        elif event == "return":
            if self.shown:
                self._note(frame, arg)
                self.recorder.on_answer()
            self.recorder.inside = False
        return self.local

    def _note(self, frame: Any, arg: Any) -> None:
        values, code = self.recorder.values, frame.f_code
        last = code.co_code[frame.f_lasti] if frame.f_lasti >= 0 else -1
        if last in _YIELDS and code.co_flags & _COROUTINE:
            self.recorder.suspended[frame] = self
            return
        if last in _YIELDS and code.co_flags & _GENERATOR:
            # Their order is part of what a generator answers.
            number = self.recorder.yielded[id(frame)] = self.recorder.yielded.get(id(frame), 0) + 1
            answer = "yields %s as number %d" % (values.text(arg), number)
        else:
            count = self.recorder.yielded.pop(id(frame), 0)
            error = None if last in _RETURNS else self.error
            answer = values.text(arg) if error is None else values.error(error)
            if count:
                # What yields one value more has answered something else.
                answer += " after %d values" % count
        answer += changes(values, self.arguments, self.before)
        self.recorder.calls.append([self.shown, answer, self.again])
        self.recorder.size += len(self.shown) + len(answer) + len(self.again)


def arguments_of(frame: Any) -> Tuple[str, Any, List[Any], Dict[str, Any]]:
    """The name of a call's function, the function (None where that name leads to another one), and
    its arguments without those that are defaults: a call stays the same when its function gets one
    more parameter."""
    code = frame.f_code
    names, star, double, held = inspect.getargvalues(frame)
    args = [held.get(one) for one in names[: code.co_argcount]]
    args += held.get(star, ()) if star else ()
    named = {one: held.get(one) for one in names[code.co_argcount :]}
    named.update(held.get(double, {}) if double else {})
    name = qualified_name(frame)
    function = find_function(str(frame.f_globals.get("__name__", "")), name, code)
    if function is not None:
        drop_defaults(function, args, named)
    return name, function, args, named


def drop_defaults(function: Any, args: List[Any], named: Dict[str, Any]) -> None:
    """Take from the arguments of a call what the function gives by itself."""
    first = function.__code__.co_argcount - len(function.__defaults__ or ())
    while len(args) > first and len(args) <= function.__code__.co_argcount:
        if args[-1] is not function.__defaults__[len(args) - 1 - first]:
            break
        args.pop()
    by_name: Dict[str, Any] = function.__kwdefaults__ or {}
    for name, value in by_name.items():
        if named.get(name, named) is value:
            del named[name]


def qualified_name(frame: Any) -> str:
    """The name of a frame's function in its module, as far as it can be told."""
    code = frame.f_code
    known = getattr(code, "co_qualname", "")
    if known:
        return str(known)
    if code.co_argcount and code.co_varnames[0] in ("self", "cls"):
        owner = frame.f_locals.get(code.co_varnames[0])
        kind = owner if isinstance(owner, type) else type(owner)
        for base in kind.__mro__:
            if code_of(base.__dict__.get(code.co_name)) is code:
                return "%s.%s" % (base.__qualname__, code.co_name)
    return str(code.co_name)


def module_name(names: Dict[str, Any]) -> str:
    """What a module is imported as, by its names; empty for a program that works when it is."""
    name = str(names.get("__name__", ""))
    if name != "__main__":
        return name
    file, spec = str(names.get("__file__", "")), names.get("__spec__")
    if "__main__" not in "".join(linecache.getlines(file)):
        return ""
    return str(spec.name) if spec else os.path.basename(file).partition(".")[0]


def code_of(value: Any) -> Any:
    value = getattr(value, "fget", None) or getattr(value, "__func__", value)
    return getattr(value, "__code__", None)


def file_of(function: Any) -> str:
    return str(getattr(code_of(function), "co_filename", ""))


def packed(module: str, name: str, args: List[Any], named: Dict[str, Any]) -> str:
    """A call as text that another process can make again; empty where it cannot be copied."""
    try:
        data = pickle.dumps((module, name, args, named), protocol=4)
    except Exception:  # noqa: BLE001 - any object's own code
        return ""
    return base64.b64encode(data).decode("ascii") if len(data) <= MAX_PICKLE else ""
