"""Watches what a project's own code does to pytest, and looks up in it, while its tests run.

Python tells an audit hook of what matters here, however the code that does it was spelled: frames
and live objects that are looked through, test files that are opened, code that is put together.
Beside that, what judges the tests must be at the end what it was at the start. Nothing but the
standard library is used, of Python 3.7 on (which has no audit hooks, and is not watched).
"""

from __future__ import annotations

import _thread
import os
import sys
import sysconfig
import types
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple, cast

from _retrai_values import TEST_NAME

MAX_FOUND = 100
MAX_TEXTS = 50
MAX_TEXT = 20000
MAX_DEPTH = 80
CALLERS = "inspects its callers"
LOOKS_AT_TESTS = "looks at its tests"
JUDGES = ("_pytest", "pluggy", "pytest", "unittest", "doctest")
MODULES = ("builtins", "operator", "math", "cmath", "re", "contextlib", "inspect", "functools")
# A program may honestly have its own of these.
OFTEN_REPLACED = ("builtins.print", "builtins.input", "builtins.open")
KINDS = (types.FunctionType, types.BuiltinFunctionType, type, classmethod, staticmethod, property)
# They ask on behalf of who called them.
PASSED_THROUGH = ("inspect.py", "traceback.py", "ast.py", "codeop.py", "runpy.py", "threading.py")
# Who shows an error opens the files that it went through.
SHOWS_ERRORS = ("traceback.py", "warnings.py", "doctest.py", "pdb.py", "bdb.py")

CODE = ("__code__", "f_code", "tb_frame", "gi_code", "cr_code")
SEEN_OFTEN = ("_pytest", "pluggy", "inspect", "traceback")

Finding = Dict[str, Any]
# The standard library has no public name for it that is as cheap.
this_frame: Callable[[int], Any] = getattr(sys, "_getframe")  # noqa: B009


class Watch:
    """What the files below `root` do, test files aside.

    Args:
        root: the folder that the tests run in.
    """

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root) + os.sep
        self.own: Dict[str, str] = {}
        self.standard: Dict[str, bool] = {}
        self.found: Dict[Tuple[str, str], Finding] = {}
        # What was looked at, by file: whether it is a test's is known when all are collected.
        self.looked_at: Dict[str, Finding] = {}
        self.texts: Dict[str, Finding] = {}
        self.touched: Set[str] = set()
        self.busy: Set[int] = set()
        self.library = os.path.realpath(sysconfig.get_paths()["stdlib"]) + os.sep
        inside = [os.path.realpath(prefix) + os.sep for prefix in (sys.prefix, sys.exec_prefix)]
        self.environments = tuple(prefix for prefix in inside if prefix.startswith(self.root))
        self.judges = dict(judging_objects())
        self.helpers: Dict[Tuple[str, str], Tuple[Dict[str, Any], Any]] = {}

    def hear(self, event: str, args: Tuple[Any, ...]) -> None:
        """The audit hook."""
        handler = HANDLERS.get(event)
        if handler is None:
            return
        if handler is Watch.get_attribute:
            # Tens of thousands of these are pytest's own; to ask for the frame's code is one more.
            asker = str(this_frame(1).f_globals.get("__name__"))
            if args[1] not in CODE or asker.split(".", 1)[0] in SEEN_OFTEN:
                return
        thread = _thread.get_ident()
        if thread in self.busy:
            return
        self.busy.add(thread)
        try:
            handler(self, args, this_frame(1))
        except Exception:  # noqa: BLE001, S110 - it would be raised in the project's own code
            pass
        finally:
            self.busy.discard(thread)

    def findings(self, tests: Set[str], plugins: List[Any]) -> List[Finding]:
        """What was found until now, each with the file that did it; empty where none is known.

        `tests` are the real paths of the files that hold cases; `plugins` those of pytest that have
        hooks: one that only gives fixtures is judged by its source.
        """
        self.busy.add(_thread.get_ident())
        found = list(self.found.values())
        found += [what for path, what in self.looked_at.items() if path in tests]
        for name, by in sorted(replaced(self.judges)):
            # A library that was installed may do so; code of no known file is nobody's.
            if self.own_path(by) or not os.path.isfile(by):
                found.append({"path": self.own_path(by), "line": 1, "what": "replaces %s" % name})
        for plugin in plugins:
            module = plugin if isinstance(plugin, types.ModuleType) else None
            if module is None:
                module = sys.modules.get(type(plugin).__module__)
            path = self.own_path(str(getattr(module, "__file__", "") or ""))
            if path and path not in tests and os.path.basename(path) != "conftest.py":
                found.append({"path": path, "line": 1, "what": "plugs into pytest"})
        found += self.texts.values()
        self.busy.discard(_thread.get_ident())
        return found[:MAX_FOUND]

    def keep_helpers(self) -> None:
        """Remember the functions in modules of tests, as they were imported."""
        for name, module in list(sys.modules.items()):
            if self.is_test(str(getattr(module, "__file__", "") or "")):
                for function, value in list(module.__dict__.items()):
                    if isinstance(value, types.FunctionType):
                        self.helpers[name, function] = (module.__dict__, value)

    def compare_helpers(self) -> None:
        """Note which of them is a function of a source now."""
        for (name, function), (owner, value) in self.helpers.items():
            now = owner.get(function)
            if now is not value and isinstance(now, types.FunctionType):
                code = now.__code__
                path = self.own_path(code.co_filename)
                if path and not self.is_test(path):
                    what = "puts its own function into %s.%s" % (name, function)
                    known = {"path": path, "line": code.co_firstlineno, "what": what}
                    self.found.setdefault((what, path), known)

    def is_test(self, file: str) -> bool:
        """Whether a file is one of the project's tests, by its name."""
        path = self.own_path(file)
        return bool(path and TEST_NAME.search(path[len(self.root) :]))

    def own_path(self, name: str) -> str:
        """The real path of a file of the project; empty for any other."""
        if name not in self.own:
            real = os.path.realpath(name) if name and name[0] != "<" else ""
            ours = real.startswith(self.root) and not real.startswith(self.environments)
            self.own[name] = real if ours and "site-packages" not in real else ""
        return self.own[name]

    def asker(self, frame: Any, through: Tuple[str, ...]) -> Tuple[str, int]:
        """The project's file and line that asked, through modules of the library or directly."""
        for _ in range(MAX_DEPTH):
            if frame is None:
                break
            name = frame.f_code.co_filename
            if os.path.basename(name) not in through or not self.is_librarys(name):
                return self.own_path(name), frame.f_lineno
            frame = frame.f_back
        return "", 0

    def is_librarys(self, name: str) -> bool:
        if name not in self.standard:
            real = os.path.realpath(name)
            beside = "-packages" not in real[len(self.library) :]
            ours = real.startswith(self.library) and beside
            self.standard[name] = name[:7] == "<frozen" or ours
        return self.standard[name]

    def note(self, what: str, frame: Any, through: Tuple[str, ...] = PASSED_THROUGH) -> None:
        path, line = self.asker(frame, through)
        if path and len(self.found) < MAX_FOUND:
            self.found.setdefault((what, path), {"path": path, "line": line, "what": what})

    def looks_at(self, file: Any, asker: Tuple[str, int]) -> None:
        target = self.own_path(str(file))
        if asker[0] and target and target != asker[0]:
            what = {"path": asker[0], "line": asker[1], "what": LOOKS_AT_TESTS}
            self.looked_at.setdefault(target, what)

    def open(self, args: Tuple[Any, ...], frame: Any) -> None:
        if isinstance(args[0], int):
            return
        name: str = os.fsdecode(args[0])
        if not name.endswith((".py", ".txt", ".rst", ".md")):
            return
        target = self.own_path(os.path.abspath(name))
        if not target:
            return
        self.touched.add(target)
        for _ in range(MAX_DEPTH):
            if frame is None:
                return
            file = frame.f_code.co_filename
            if not self.is_librarys(file):
                self.looks_at(target, (self.own_path(file), frame.f_lineno))
                return
            # An import, or an error that is shown, opens files as well.
            if file[:7] == "<frozen" or os.path.basename(file) in SHOWS_ERRORS or "logging" in file:
                return
            frame = frame.f_back

    def compile(self, args: Tuple[Any, ...], frame: Any) -> None:
        text = args[0]
        if isinstance(text, (bytes, bytearray)):
            text = bytes(text).decode("utf-8", "replace")
        if not isinstance(text, str) or len(self.texts) >= MAX_TEXTS:
            return
        path, line = self.asker(frame, PASSED_THROUGH)
        if path:
            known = {"path": path, "line": line, "what": "", "code": text[:MAX_TEXT]}
            self.texts.setdefault(text, known)

    def get_attribute(self, args: Tuple[Any, ...], frame: Any) -> None:
        asker = self.asker(frame, ())
        if asker[0]:
            self.looks_at(code_file(args[0]), asker)

    def set_attribute(self, args: Tuple[Any, ...], frame: Any) -> None:
        owner, name = args[:2]
        if name in ("__code__", "__defaults__", "__kwdefaults__") and code_file(owner):
            asker = self.asker(frame, ())
            if asker[0] and not self.own_path(code_file(owner)):
                self.note("changes the code of others", frame)
            self.looks_at(code_file(owner), asker)

    def look_up_symbol(self, args: Tuple[Any, ...], frame: Any) -> None:
        if str(args[1]).startswith(("Py", "_Py")):
            self.note("calls into the interpreter", frame, ("__init__.py", *PASSED_THROUGH))


def noting(what: str) -> Callable[[Watch, Tuple[Any, ...], Any], None]:
    return lambda watch, args, frame: watch.note(what, frame)


HANDLERS: Dict[str, Callable[[Watch, Tuple[Any, ...], Any], None]] = {
    "open": Watch.open,
    "compile": Watch.compile,
    "object.__getattr__": Watch.get_attribute,
    "object.__setattr__": Watch.set_attribute,
    "ctypes.dlsym": Watch.look_up_symbol,
    "sys._getframe": noting(CALLERS),
    "sys._getframemodulename": noting(CALLERS),
    "sys._current_frames": noting(CALLERS),
    "sys._current_exceptions": noting(CALLERS),
    "gc.get_objects": noting("looks through live objects"),
    "gc.get_referrers": noting("looks through live objects"),
    "gc.get_referents": noting("looks through live objects"),
    "sys.settrace": noting("hooks into the interpreter"),
    "sys.setprofile": noting("hooks into the interpreter"),
    "sys.monitoring.register_callback": noting("hooks into the interpreter"),
    "code.__new__": noting("makes code by hand"),
    "marshal.loads": noting("makes code by hand"),
}


def code_file(owner: Any) -> str:
    """The file of a function, a frame, a traceback or a generator; empty for none."""
    if hasattr(owner, "tb_frame"):
        owner = owner.tb_frame
    for name in ("__code__", "f_code", "gi_code", "cr_code"):
        code = getattr(owner, name, None)
        if isinstance(code, types.CodeType):
            return code.co_filename
    return ""


def judging_objects() -> Iterator[Tuple[str, Tuple[Dict[str, Any], str, Any, Any]]]:
    """Functions and classes of pytest and of what assertions call, each with where it is kept."""
    for name, module in list(sys.modules.items()):
        if name.split(".", 1)[0] in JUDGES or name in MODULES:
            for attribute, value in list(getattr(module, "__dict__", {}).items()):
                full = "%s.%s" % (name, attribute)
                if isinstance(value, KINDS) and full not in OFTEN_REPLACED:
                    yield full, (module.__dict__, attribute, value, code_of(value))
                if isinstance(value, type) and value.__module__ == name:
                    for inner, part in list(value.__dict__.items()):
                        if isinstance(part, KINDS) and inner not in ("__dict__", "__weakref__"):
                            yield "%s.%s" % (full, inner), (value, inner, part, code_of(part))  # type: ignore[misc]


def code_of(value: Any) -> Any:
    return getattr(getattr(value, "__func__", value), "__code__", None)


def replaced(judges: Dict[str, Tuple[Any, str, Any, Any]]) -> Iterator[Tuple[str, str]]:
    """The names whose object is another one now, or has other code, and the file of the new one."""
    for name, (owner, attribute, value, code) in judges.items():
        now: Any = (cast("Any", owner) if isinstance(owner, dict) else owner.__dict__).get(
            attribute
        )
        if now is not value or code_of(now) is not code:
            other = code_of(now)
            module = sys.modules.get(str(getattr(now, "__module__", "")))
            by = other.co_filename if other is not None else getattr(module, "__file__", "")
            yield name, str(by or "")


def start(root: str) -> Optional[Watch]:
    """Begin to watch; None where this Python cannot."""
    if not hasattr(sys, "addaudithook"):
        return None
    watch = Watch(root)
    sys.addaudithook(watch.hear)
    # Nobody needs it by its name any more.
    sys.modules.pop(__name__, None)
    return watch
