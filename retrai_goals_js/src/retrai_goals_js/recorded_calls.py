"""Records the calls of tests into the project's own code, and makes them again without tests.

The recorder is put into the test files of a copy of the project, as their first line, whatever the
runner: it wraps what they load of the project, and the functions of the tests that failed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, Field

from retrai_core import RecordedCall, make_clean_copy
from retrai_goal_support import SavedModel, bytes_of, json_lines, project_files, text_of

from .js_audit import is_test
from .package_json import read_package
from .suite_run import MAX_BYTES

_INSIDE = Path(__file__).parent / "inside"
BEFORE = "js_before.json"
"""In the run's folder: what the baseline check showed."""
MATCHER = "asymmetricMatch"
"""The method that jest and vitest ask. A sign of the recorder ends with it."""
_CODE = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")
_REQUIRE = re.compile(r"""(?<![\w.$])require\(\s*(?P<q>["'])(?P<spec>\.[^"'\n]*)(?P=q)\s*\)""")
_IMPORT = re.compile(
    r"""^import\s+(?!type\b)(?P<what>[\w$*{][^"';]*?)\s+from\s+(?P<q>["'])(?P<spec>\.[^"'\n]*)(?P=q);?""",
    re.MULTILINE,
)
_IS_MODULE = re.compile(r"^(?:import\b(?!\s*\()|export\b)", re.MULTILINE)
# `test(value) {` is a method and declares no test.
_TEST = re.compile(r"^([ \t]*)(it|test)\((?![^()\n]*\)\s*\{)", re.MULTILINE)
_DECLARES = re.compile(r"\b(?:describe|suite|it|test)(?:\.\w+)*\(|node:test")
_STRICT = re.compile(r"""\A\s*(["'])use strict\1;?""")
_SETS_STATE = re.compile(
    r"\b(?:before|after|beforeEach|afterEach|beforeAll|afterAll)\("
    r"|\b(?:mock|sinon|nock|jest|vi|globalThis|global|chdir|setSystemTime|useFakeTimers)\b"
    r"|\bprocess\.|\bdelete\s|(?:\.\s*[\w$]+|\])\s*(?:[-+*/|&?]{0,2}=)(?![=>])"
    r"|^\s*(?:import\s*[\"']|require\([^)]*\)\s*;?\s*$)",
    re.MULTILINE,
)
_SETUP = re.compile(r"setup|preload|environment|\"?(?:require|import)\"?\s*:|(?:--require|-r)\s")
_LOADERS = ("--import", "--require", "-r", "--loader", "--experimental-loader", "-C")
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
_OF_RUNS = re.compile(r"CI$|NODE_|TEST|JEST|MOCHA|BUN|npm_|RETRAI", re.IGNORECASE)


class BeforeRun(SavedModel):
    """What the baseline check of a run showed.

    Attributes:
        failed: cases that did not pass.
        answers: by case, literals that its failed assertion compared.
        lines: by case, the line of that assertion.
        signs: what the project's code replaced that is not its own.
        has_matchers: its source has objects that decide themselves what they equal.
    """

    failed: list[str] = Field(default_factory=list)
    answers: dict[str, list[str]] = Field(default_factory=dict)
    lines: dict[str, int] = Field(default_factory=dict)
    signs: list[str] = Field(default_factory=list)
    has_matchers: bool = False


class _Line(BaseModel):
    """A line of the recorder: a call, or what was replaced meanwhile.

    Attributes:
        added: the name of a method that was added, and not replaced.
    """

    case: str = ""
    number: int = 0
    call: str = ""
    answer: str = ""
    again: str = ""
    whole: bool = False
    sign: str = ""
    alone: bool = False
    added: str = ""


@dataclass(frozen=True, slots=True)
class Recording:
    """What the recorder saw of one run.

    Attributes:
        calls: case by case.
        signs: what the project's code replaced that is not its own; true where that decides what
            an assertion says.
    """

    calls: Sequence[RecordedCall] = ()
    signs: Mapping[str, bool] = field(default_factory=dict[str, bool])


def add_recorder(folder: Path, cases: Collection[str], report: Path, *, hoisted: bool) -> None:
    """Let the test files of these cases record what the project's code answers.

    Args:
        folder: where the runner runs, in a copy of the project.
        cases: ids of tests.
        report: where the recorder writes.
        hoisted: the runner turns `import` into `require`, so that nothing can be awaited.
    """
    for path in dict.fromkeys(case.partition("::")[0] for case in cases):
        file = folder / path
        with suppress(OSError, UnicodeDecodeError):
            source = file.read_bytes().decode()
            if changed := _with_recorder(folder, path, source, cases, report, hoisted):
                file.write_text(changed, encoding="utf-8", newline="")


def read_recording(report: Path, cases: Collection[str], folder: Path, test_line: str) -> Recording:
    """What a run recorded.

    Args:
        report: where the recorder wrote.
        cases: ids of the tests that it followed.
        folder: where the runner ran.
        test_line: how the tests are started.
    """
    told = list(json_lines(bytes_of(report, MAX_BYTES).splitlines(), _Line))
    replaced = [line for line in told if line.sign]
    # What is said of a call last counts.
    lines = {(line.case, line.number): line for line in told if not line.sign}
    files = {case.partition("::")[0] for case in cases}
    # What a test asks for by its name is what the project adds to the language.
    named = set(re.findall(r"[\w$]+", " ".join(text_of(folder / path) for path in files)))
    signs = {
        line.sign: line.alone for line in replaced if not line.added or line.added not in named
    }
    signs |= {
        f"{case} ends without an answer of {line.call}, which never settles": False
        for (case, _), line in lines.items()
        if "::" not in case and line.answer == "never settles"
    }
    partial = {line.case for line in lines.values() if not line.whole}
    set_up = _is_set_up(folder, test_line)
    plain = {
        path: not set_up and not _SETS_STATE.search(text_of(folder / path))
        for path in {case.partition("::")[0] for case, _ in lines}
    }
    calls = [
        RecordedCall(case, line.call, line.answer, line.again, plain[case.partition("::")[0]])
        for (case, _), line in sorted(lines.items())
        if case not in partial
    ]
    return Recording(calls, signs)


def has_matchers(project: Path) -> bool:
    """Whether the source has objects that decide themselves what they equal."""
    sources = [path for path in project_files(project) if path.endswith(_CODE)]
    return any(MATCHER in text_of(project / path) for path in sources if not is_test(path))


def copy_project(project: Path, room: Path) -> Path:
    """A clean copy of a project without its repository, and with links to its packages."""
    copy = room / project.name
    make_clean_copy(project, copy, without=frozenset({".git"}), link_packages=True)
    for modules in copy.rglob("node_modules"):
        if modules.is_symlink():  # which may be relative
            modules.unlink()
            modules.symlink_to((project / modules.relative_to(copy)).resolve())
    return copy


def player(program: str, test_line: str) -> tuple[list[str], dict[str, object]]:
    """The command that makes calls again in a process without tests, and what its job says.

    Args:
        program: node or bun.
        test_line: how the tests are started; its loaders and variables are used.
    """
    loaders, variables = _loaders_and_variables(test_line)
    return [program, *loaders, "-e", _inside("player")], {"env": variables}


def remove_tests(copy: Path) -> None:
    """Remove files with tests from a copy, so that nothing looks like a run of them.

    What the source may read there, fixtures say, stays.
    """
    for path in list(project_files(copy)):
        file = copy / path
        if is_test(path) and path.endswith(_CODE) and _DECLARES.search(text_of(file)):
            file.unlink()
            left = file.parent
            while left != copy and not any(left.iterdir()):
                left.rmdir()
                left = left.parent


def _with_recorder(
    folder: Path, path: str, source: str, cases: Collection[str], report: Path, hoisted: bool
) -> str:
    """The test file with a recorder; empty where it has nothing to record."""
    if source.startswith("#!"):
        return ""
    is_module = bool(_IS_MODULE.search(source))
    changed = _REQUIRE.sub(lambda found: _loading(folder, path, found), source)
    changed = _IMPORT.sub(lambda found: _importing(folder, path, found, hoisted), changed)
    if changed == source:
        return ""
    changed = _TEST.sub(r"\1__recorder.test(\2)(", changed)
    own = [case for case in cases if case.startswith(f"{path}::")]
    # A plain script is one case.
    given = ", ".join(map(json.dumps, (str(report), own, path if path in cases else "")))
    first = (
        f"const __recorder = (() => {{ {_inside('recorder')} return "
        f"retraiRecorder({given}); }})(); "
    )
    strict = None if is_module else _STRICT.match(changed)
    at = strict.end() if strict else 0
    return changed[:at] + first + changed[at:]


def _loading(folder: Path, path: str, found: re.Match[str]) -> str:
    place = _resolve(folder, path, found["spec"])
    if place is None:
        return found[0]
    named = json.dumps(place)
    if is_test(place):
        return f"__recorder.watch({named}, {found[0]})"
    return f"__recorder.load({named}, () => {found[0]}, require.cache)"


def _importing(folder: Path, path: str, found: re.Match[str], hoisted: bool) -> str:
    place = _resolve(folder, path, found["spec"])
    names = _imported(found["what"])
    if place is None or not names:
        return found[0]
    named, spec = json.dumps(place), f"{found['q']}{found['spec']}{found['q']}"
    if is_test(place):
        shown = ", ".join(name for _, name in names)
        return f"{found[0]} __recorder.watch({named}, {{ {shown} }});"
    start, load = "", f"await __recorder.loading({named}, () => import({spec}))"
    module = f"__module{found.start()}"
    if hoisted:
        start = f"import * as {module}_ from {spec}; "
        load = f"__recorder.loaded({named}, {module}_)"
    targets = [name if key == "*" else f"{{ {key}: {name} }}" for key, name in names]
    consts = ", ".join(f"{target} = {module}" for target in targets)
    lines = "\n" * found[0].count("\n")
    return f"{start}const {module} = {load}, {consts};{lines}"


def _imported(what: str) -> list[tuple[str, str]]:
    """Pairs of exported and local names of an `import`."""
    names: list[tuple[str, str]] = []
    outside, _, inner = what.partition("{")
    for part in outside.split(","):
        words = part.split()
        if len(words) == 3 and words[:2] == ["*", "as"]:
            names.append(("*", words[2]))
        elif len(words) == 1:
            names.append(("default", words[0]))
    for part in inner.rstrip().removesuffix("}").split(","):
        words = part.split()
        if words and words[0] != "type":
            names.append((words[0], words[-1]))
    return names


def _resolve(folder: Path, path: str, spec: str) -> str | None:
    """The file of the project that a relative name means, relative to `folder`."""
    base = os.path.normpath((folder / path).parent / spec)
    stem = base.removesuffix(".js")
    tried = [base, *(base + end for end in _CODE)]
    tried += [os.path.join(base, f"index{end}") for end in _CODE]
    tried += [stem + end for end in (".ts", ".tsx")] if stem != base else []
    for each in tried:
        if each.endswith(_CODE) and os.path.isfile(each):
            place = os.path.relpath(each, folder).replace(os.sep, "/")
            return None if "node_modules" in place.split("/") else place
    return None


def _loaders_and_variables(test_line: str) -> tuple[list[str], dict[str, str]]:
    """What of the test command decides how modules are loaded, and the variables that it sets."""
    try:
        words = shlex.split(test_line)
    except ValueError:
        return [], {}
    loaders: list[str] = []
    variables: dict[str, str] = {}
    for at, word in enumerate(words):
        name, _, value = word.partition("=")
        if name in _LOADERS:
            loaders += [word] if value else words[at : at + 2]
        elif word.rpartition("/")[2] == "tsx":
            loaders += ["--import", "tsx"]
        elif (found := _VARIABLE.fullmatch(word)) and not _OF_RUNS.match(found["name"]):
            variables[found["name"]] = found["value"]
    return loaders, variables


def _is_set_up(folder: Path, test_line: str) -> bool:
    """Whether something runs before the tests that may arrange what they meet."""
    files = [each for each in folder.iterdir() if re.search(r"mocharc|\.config\.", each.name)]
    package = read_package(folder)
    sections = () if isinstance(package, str) else (package.jest, package.mocha)
    texts = [test_line, *map(text_of, files), *map(json.dumps, sections)]
    return any(map(_SETUP.search, texts)) or (folder / "bunfig.toml").is_file()


def _inside(name: str) -> str:
    """A program of ours as one line, without comments, after what it uses for values."""
    texts = [(_INSIDE / f"retrai-{each}.js").read_text("utf-8") for each in ("values", name)]
    lines = (line.strip() for text in texts for line in text.splitlines())
    return " ".join(line for line in lines if not line.startswith("//"))
