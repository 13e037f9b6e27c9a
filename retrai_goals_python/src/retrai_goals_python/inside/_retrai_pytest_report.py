"""Loaded into a project's pytest: it writes down what pytest reports.

It runs in the project's interpreter, which may be Python 3.7 with pytest 6, beside the project's
own plugins, so it uses nothing but the standard library and pytest's public hooks. The runner
copies it to a fresh folder, puts that folder first on PYTHONPATH and names it with `-p`; once every
plugin is imported, the folder is taken off the path again and PYTHONPATH is put back, so that the
tests see the path and the environment that they would see without it.

One JSON object a line, flushed at once: when the process dies, what was said until then is there.
Under pytest-xdist only the controller writes; the workers just get the same settings.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
from typing import Any, Dict, Generator, Iterator, List, Set, Tuple, cast

import _retrai_imports
import _retrai_patches
import _retrai_record
import pytest
from _retrai_compared import compared_by, written

FAILURES = (AssertionError, pytest.fail.Exception)
FAILED_EXAMPLES = ("DocTestFailure", "MultipleDoctestFailures")
REPORT = "RETRAI_PYTEST_REPORT"
PATH_BEFORE = "RETRAI_PYTHONPATH_BEFORE"
MAX_TEXT = 16000
MAX_SECTION = 3000
HERE = os.path.dirname(os.path.abspath(__file__))


class Writer:
    """Appends lines to the report.

    The functions are kept as they are at the start: a test may have replaced `os.open` or
    `json.dumps`, or closed every open file, when a report is due.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._open, self._write, self._close, self._stat = os.open, os.write, os.close, os.fstat
        self._pipe = os.stat(path).st_ino
        # Without waiting for a reader: a process that a test left behind has none any more.
        self._flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
        self._set_blocking = os.set_blocking
        self._encode = json.JSONEncoder(ensure_ascii=False).encode
        self._unwritten = b""

    def write(self, kind: str, **values: Any) -> None:
        values["kind"] = kind
        # An undecodable byte in a path or a text has no place in UTF-8.
        self._unwritten += self._encode(values).encode("utf-8", "replace") + b"\n"
        try:
            target = self._open(self.path, self._flags, 0o600)
        except OSError:  # a test that uses up the file descriptors: the next line takes this along
            return
        try:
            if self._stat(target).st_ino != self._pipe:
                return  # somebody put another file in its place: the report stays without an end
            self._set_blocking(target, True)
            while self._unwritten:
                written = self._write(target, self._unwritten)
                self._unwritten = self._unwritten[written:]
        except BrokenPipeError:  # the reader has gone
            return
        finally:
            self._close(target)


def clean_environment() -> None:
    """Leave no trace of this file in what the tests and their child processes see."""
    if HERE in sys.path:
        sys.path.remove(HERE)
    os.environ.pop(REPORT, None)
    before = os.environ.pop(PATH_BEFORE, None)
    if before is not None:
        os.environ.pop("PYTHONPATH", None)
        if before:
            os.environ["PYTHONPATH"] = before


def set_ini(config: Any, name: str, value: Any) -> None:
    """Set an ini value where this pytest knows the name (`-o` would warn where it does not)."""
    try:
        config.getini(name)
    except (KeyError, ValueError):
        return
    known = getattr(config, "_inicache", None)
    if isinstance(known, dict):
        known[name] = value


def set_up(config: Any, settings: Dict[str, Any], process: str) -> None:
    """Settings that let every case be seen; none of them changes the outcome of a test."""
    cache_dir = settings["cache_dir"]
    option = config.option
    option.maxfail = 0
    option.continue_on_collection_errors = True
    option.usepdb = False
    # To show the lines of a failure, pytest parses their file again for each.
    option.tbstyle = "line" if settings["outcomes_only"] else "short"
    option.showlocals = False
    option.color = "no"
    option.stepwise = option.stepwise_skip = option.stepwise_reset = False
    set_ini(config, "cache_dir", cache_dir)
    set_ini(config, "truncation_limit_lines", "60")
    set_ini(config, "truncation_limit_chars", "3000")
    dump_stacks_at_the_end(os.path.dirname(cache_dir), process)
    if settings["record"]:
        config.pluginmanager.register(CallRecords(settings["record"]), "retrai-calls")


def dump_stacks_at_the_end(folder: str, process: str) -> None:
    """When the sandbox ends us with SIGTERM, say first where we were.

    This is done in C, without a thread or a Python handler: a test sees the signal as it was.
    """
    if hasattr(faulthandler, "register") and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        stacks = open(os.path.join(folder, "stacks%s.txt" % process), "w")  # as long as we live
        faulthandler.register(signal.SIGTERM, file=stacks, all_threads=True, chain=True)


class Reporter:
    """The hooks that write; registered in the process that has the whole picture."""

    def __init__(self, writer: Writer, settings: Dict[str, Any]) -> None:
        self.writer = writer
        self.settings = settings
        self.imported: Set[str] = set()
        self.deselected = 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["retrai"] = self.settings

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        self.imported.update(getattr(node, "workeroutput", {}).get("retrai_imported", ()))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Any) -> None:
        self.writer.write("collected", ids=[str(one) for one in ids])

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: Any) -> None:
        self.writer.write("collected", ids=[item.nodeid for item in session.items])

    @pytest.hookimpl(trylast=True)
    def pytest_deselected(self, items: Any) -> None:
        self.deselected += len(items)

    @pytest.hookimpl(trylast=True)
    def pytest_collectreport(self, report: Any) -> None:
        if not report.passed:
            why = explain(report.longrepr)
            name = report.nodeid or "collection"
            self.writer.write("phase", id=name, when="collection", outcome=report.outcome, why=why)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.writer.write("start", id=nodeid)

    # Last, so that what other plugins make of a report is seen as the terminal would show it.
    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        phase: dict[str, Any] = {
            "id": report.nodeid,
            "when": str(report.when),
            "outcome": str(report.outcome),
            "is_xfail": hasattr(report, "wasxfail"),
            "subtest": describe_subtest(report),
        }
        if report.outcome == "failed" and not self.settings["outcomes_only"]:
            phase["why"] = explain(report.longrepr)
            phase["sections"] = [
                [str(title), shorten(text, MAX_SECTION)] for title, text in report.sections
            ]
        self.writer.write("phase", **phase)
        recorded: Any = getattr(report, "retrai_calls", None)
        if recorded is not None:
            self.writer.write("calls", id=report.nodeid, **recorded)

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        self.writer.write("interrupted", text=shorten(excinfo.exconly(), MAX_TEXT))

    def pytest_internalerror(self, excrepr: Any) -> None:
        self.writer.write("internal_error", text=shorten(excrepr, MAX_TEXT))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: Any, exitstatus: Any) -> Generator[None, Any, None]:
        # Every failure has been told. The terminal would look through all reports for each of them
        # (six seconds for 3,000 failures), and nobody reads it there.
        session.config.option.tbstyle = "no"
        yield
        if _imports is not None:
            self.imported.update(_imports.loaded())
        self.writer.write(
            "finish",
            exit_status=int(getattr(session, "exitstatus", exitstatus)),
            deselected=self.deselected,
            imported=sorted(self.imported),
        )


class WorkerImports:
    """In a worker of pytest-xdist: tells the controller what was imported there."""

    def __init__(self, config: Any, imports: Any) -> None:
        self.config, self.imports = config, imports

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: Any) -> None:
        self.config.workeroutput["retrai_imported"] = self.imports.loaded()


class CallRecords:
    """Records what the project's code answers each test; the report of its call carries it.

    Args:
        wanted: ids of tests; `*` for all that fail.
    """

    def __init__(self, wanted: List[str]) -> None:
        root = os.getcwd()
        self.wanted = set(wanted)
        self.failed_only = "*" in self.wanted
        self.is_own = _retrai_record.own_files(root)
        self.recorder = _retrai_record.Recorder(root, self.is_own)
        self.patches = _retrai_patches.Patches(self.recorder.is_projects, self.recorder.root)
        self.recorder.on_answer = self.patches.look
        self.compared: List[str] = []
        self.running, self.of_subtest = False, cast("Any", None)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: Any) -> None:
        for item in session.items:
            if type(item).__name__ != "DoctestItem":
                path = str(getattr(item, "path", None) or item.fspath)
                self.recorder.tests[os.path.realpath(path)] = True
        for plugin in session.config.pluginmanager.get_plugins():
            # The project's own plugin asks its code as a test does.
            path = str(getattr(plugin, "__file__", None) or "")
            self.recorder.tests[os.path.realpath(path)] = True
        # The first look takes longest, and would slow down the test that it is in.
        self.patches.look()

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_setup(self, item: Any) -> Generator[None, Any, None]:
        yield from self.followed(item)

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, Any, None]:
        self.running = True
        yield from self.followed(item)
        self.running = False

    def followed(self, item: Any) -> Generator[None, Any, None]:
        follow = self.failed_only or item.nodeid in self.wanted
        if follow:
            self.recorder.start()
        yield
        if follow:
            self.recorder.pause()

    def pytest_assertrepr_compare(self, op: str, left: Any, right: Any) -> None:
        """Two values that were not equal, where they can be written down; or what else failed."""
        self.compared = [written(left), written(right), *([op] if op != "==" else ())]

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, None]:
        outcome = yield
        report = outcome.get_result()
        error = call.excinfo.value if call.excinfo is not None else None
        if self.running:  # a subtest has ended, and its test goes on
            self.of_subtest = self.of_subtest or error
        elif report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
            calls, compared, self.compared = self.recorder.take(), self.compared, []
            passed = report.outcome == "passed" and self.of_subtest is None
            error, self.of_subtest = self.of_subtest or error, None
            if isinstance(error, AssertionError) and not compared:
                compared = compared_by(error)
            if not passed if self.failed_only else item.nodeid in self.wanted:
                functions = hook_functions(item.config.pluginmanager)
                report.retrai_calls = {
                    "calls": calls,
                    "compared": compared,
                    "asserted": passed
                    or isinstance(error, FAILURES)
                    or type(error).__name__ in FAILED_EXAMPLES,
                    "fixtures": fixtures_of(item, self.is_own) + self.changed_variables(),
                    "parameters": {
                        str(name): written(value) for name, value in parameters_of(item).items()
                    },
                    "patches": self.patches.take(functions),
                    "paths": [path for path in sys.path if path],
                }

    def changed_variables(self) -> List[str]:
        """Variables of the environment that were set since the start, by a plugin, say."""
        return sorted(name for name, _ in variables() ^ _variables)


def shorten(text: Any, limit: int) -> str:
    text = str(text)
    if len(text) <= limit:
        return text
    half = limit // 2
    cut = len(text) - 2 * half
    return "%s\n... %d characters left out ...\n%s" % (text[:half], cut, text[-half:])


def explain(longrepr: Any) -> dict[str, Any]:
    """The text that pytest would print, and where and how the test crashed, if it says so."""
    found: dict[str, Any] = {"text": shorten(longrepr, MAX_TEXT)}
    # Not every explanation has it: a doctest's, a collection error's and a plugin's are texts.
    crash: Any = getattr(longrepr, "reprcrash", None)
    if crash is not None:
        found["path"] = str(crash.path)
        found["line"] = int(crash.lineno or 0)
        found["message"] = shorten(crash.message, MAX_TEXT)
    return found


def describe_subtest(report: Any) -> str:
    """What tells one subtest from another; empty for a test of its own."""
    context = getattr(report, "context", None)
    if context is None or not hasattr(context, "kwargs"):
        return ""
    parts = [] if context.msg is None else ["[%s]" % context.msg]
    if context.kwargs:
        parts.append("(%s)" % ", ".join("%s=%s" % pair for pair in sorted(context.kwargs.items())))
    return " ".join(parts) or "(<subtest>)"


def read_settings(folder: str) -> Dict[str, Any]:
    """What the runner wants: `outcomes_only`, `record`, `imports`, `cache_dir`."""
    with open(os.path.join(folder, "settings.json"), encoding="utf-8") as file:
        settings: Dict[str, Any] = json.load(file)
    return settings


def lead_imports(places: Any, here: str = "") -> Any:
    """What leads imports to a copy of the project; None where no copy is tested."""
    if not places:
        return None
    original, copy, roots = places
    # A worker of pytest-xdist gets the import path of the process that started it.
    imports = _retrai_imports.Imports(original, copy)
    imports.lead_to_copy(here, roots if here else ())
    return imports


def hook_functions(manager: Any) -> Iterator[Tuple[str, Any]]:
    """The functions of all hooks, by plugin and hook."""
    for name, caller in cast("Dict[str, Any]", vars(manager.hook)).items():
        hooks: List[Any] = caller.get_hookimpls() if hasattr(caller, "get_hookimpls") else []
        for each in hooks:
            # One that is registered without a name is called by its address.
            nameless = each.plugin_name.isdigit()
            owner = "a %s" % type(each.plugin).__qualname__ if nameless else each.plugin_name
            yield "%s of %s" % (name, owner), each.function


def parameters_of(item: Any) -> Dict[str, Any]:
    """The values that a test is given by `parametrize`."""
    return dict(getattr(getattr(item, "callspec", None), "params", {}))


def fixtures_of(item: Any, is_own: Any) -> List[str]:
    """Fixtures that a test asks for, and those of the project that it gets unasked."""
    parameters = parameters_of(item)
    info: Any = getattr(item, "_fixtureinfo", None)
    known: Any = getattr(info, "name2fixturedefs", {})
    return [
        name
        for name in getattr(item, "fixturenames", ())
        if name not in parameters
        and (
            name in getattr(info, "argnames", ())
            or any(is_own(_retrai_record.file_of(one.func)) for one in known.get(name, ()))
        )
    ]


def variables() -> Set[Tuple[str, str]]:
    """The environment, without what this file, Python and pytest put there."""
    ours = ("RETRAI_", "PYTEST_", "PYTHONPATH")
    return {pair for pair in os.environ.items() if not pair[0].startswith(ours)}


_variables = variables()
_report_path = os.environ.get(REPORT, "")
_settings = read_settings(os.path.dirname(_report_path)) if _report_path else {}
_writer = Writer(_report_path) if _report_path else None
# Before any plugin and any of the project's files is imported.
_imports = lead_imports(_settings.get("imports"), HERE)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> Generator[None, Any, None]:
    """Every plugin is imported by now, and no conftest.py yet."""
    clean_environment()
    if _writer is not None:
        found = early_config.pluginmanager.list_plugin_distinfo()
        plugins = sorted({str(dist.project_name) for _, dist in found})
        _writer.write("begin", pytest=pytest.__version__, plugins=plugins)
    outcome = yield
    problem: Any = outcome.excinfo
    if problem is not None and _writer is not None:
        # A conftest.py that cannot be imported: pytest 8 names the cause, older ones wrap excinfo.
        error = problem[1]
        cause = getattr(error, "cause", None) or getattr(error, "__cause__", None)
        if cause is None and getattr(error, "excinfo", None):
            cause = error.excinfo[1]
        named = "%s: %s" % (type(cause or error).__name__, cause or error)
        _writer.write("stopped", text=shorten(named, MAX_TEXT))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: Any) -> None:
    if hasattr(config, "workerinput"):
        settings = config.workerinput.get("retrai")
        if settings:
            set_up(config, settings, config.workerinput["workerid"])
            imports = lead_imports(settings["imports"])
            if imports is not None:
                config.pluginmanager.register(WorkerImports(config, imports), "retrai-imports")
    elif _writer is not None:
        set_up(config, _settings, "")
        config.pluginmanager.register(Reporter(_writer, _settings), "retrai-reporter")
