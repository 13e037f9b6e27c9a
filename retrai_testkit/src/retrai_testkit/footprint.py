"""What a plugin could leave behind in our process, before and after."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from copy import copy
from types import FunctionType, ModuleType
from typing import Any, cast

import psutil

_SETTLE_S = 5.0
_NO_STATE = (ModuleType, FunctionType, property, classmethod, staticmethod)


class Footprint:
    """The state of this process and of a package's modules, to compare with later.

    Args:
        package: the top-level name of the package whose globals are compared.

    Example:
        >>> before = Footprint("retrai_testkit")
        >>> os.environ["LEFT_BEHIND"] = "1"
        >>> before.changes()
        ['the environment variable LEFT_BEHIND was changed']
    """

    def __init__(self, package: str) -> None:
        self._package = package
        self._folder = os.getcwd()
        self._environ = dict(os.environ)
        self._signals = _signals()
        self._path = list(sys.path)
        self._threads = set(threading.enumerate())
        self._children = _children()
        self._globals = _globals(package)

    def changes(self) -> list[str]:
        """What is different now, each as a line for people."""
        return [*self._process_state(), *self._changed_globals(), *self.left_running()]

    def left_running(self) -> list[str]:
        """Threads and processes that were not there before, and do not end within 5 s."""
        return _settled(lambda: [*self._running_threads(), *self._running_processes()])

    def processes_left_running(self) -> list[str]:
        """Processes alone; while an event loop runs, threads of its pool stay."""
        return _settled(self._running_processes)

    def new_processes(self) -> bool:
        """Whether a process was started since."""
        return bool(_children() - self._children)

    def _running_threads(self) -> list[str]:
        threads = [t for t in threading.enumerate() if t not in self._threads]
        return [f"the thread {thread.name} is still running" for thread in threads]

    def _running_processes(self) -> list[str]:
        lines: list[str] = []
        for pid in sorted(_children() - self._children):
            try:
                words = " ".join(psutil.Process(pid).cmdline())
            except psutil.Error:  # it has ended meanwhile
                continue
            lines.append(f"the process {pid} is still running: {words}")
        return lines

    def _process_state(self) -> list[str]:
        found: list[str] = []
        if os.getcwd() != self._folder:
            found.append(f"the working directory is now {os.getcwd()}")
        now = dict(os.environ)
        # pytest itself keeps the current test in one.
        names = {name for name, _ in now.items() ^ self._environ.items()} - {"PYTEST_CURRENT_TEST"}
        found += [f"the environment variable {name} was changed" for name in sorted(names)]
        found += [
            f"the handler of {signal.Signals(number).name} was changed"
            for number, handler in _signals().items()
            if handler != self._signals.get(number, handler)
        ]
        if sys.path != self._path:
            found.append("sys.path was changed")
        return found

    def _changed_globals(self) -> list[str]:
        now = _globals(self._package)
        found: list[str] = []
        for name, (kept, as_it_was) in self._globals.items():
            value, _ = now.get(name, (None, None))
            if value is not kept:
                found.append(f"{name} was replaced")
            elif _is_container(value) and value != as_it_was:
                found.append(f"{name} was changed")
        return found


def _settled(look: Callable[[], list[str]]) -> list[str]:
    """What `look` still finds when it had time to end."""
    deadline = time.monotonic() + _SETTLE_S
    while (left := look()) and time.monotonic() < deadline:
        threading.Event().wait(0.02)
    return left


def _signals() -> Mapping[int, Any]:
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: _handler(number) for number in signal.valid_signals()}


def _handler(number: int) -> Any:
    handler: Any = signal.getsignal(number)
    # asyncio.run has one of its own for as long as it runs.
    asyncios = getattr(getattr(handler, "func", None), "__module__", "") == "asyncio.runners"
    return signal.default_int_handler if asyncios else handler


def _children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def _globals(package: str) -> dict[str, tuple[object, object]]:
    """Each global and class attribute of the package's modules: the object, and a copy of it."""
    found: dict[str, tuple[object, object]] = {}
    for module_name, module in list(sys.modules.items()):
        if module_name != package and not module_name.startswith(f"{package}."):
            continue
        for name, value in list(vars(module).items()):
            where = f"{module_name}.{name}"
            _add_value(found, where, name, value)
            if isinstance(value, type) and value.__module__ == module_name:
                for attribute, held in list(vars(value).items()):
                    _add_value(found, f"{where}.{attribute}", attribute, held)
    return found


def _add_value(
    found: dict[str, tuple[object, object]], where: str, name: str, value: object
) -> None:
    # Dunder names and `_abc_impl` belong to Python and pydantic, which fill them when they like.
    if name.startswith(("__", "_abc_")) or isinstance(value, _NO_STATE):
        return
    found[where] = (value, copy(cast(Any, value)) if _is_container(value) else None)


def _is_container(value: object) -> bool:
    return isinstance(value, (list, dict, set, bytearray))
