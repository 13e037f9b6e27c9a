"""Reads what `cargo test` prints, test by test.

libtest has no stable machine format, so its lines are read. Output of the tests' own processes may
stand between and inside them; what cannot be read is settled by the names below `failures:` and the
counts of `test result:`, and where these do not add up, the run is not complete.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import takewhile

from retrai_core import CaseOutcome
from retrai_goal_support import LITERAL

_TARGET = re.compile(r"^ {5}Running (?:(?:unittests|benches) )?(\S+) \((.+)\)$")
_DOCS = re.compile(r"^ {3}Doc-tests (\S+)$")
_RUNNING = re.compile(r"^running \d+ tests?$")
# A child process of a test may have printed the beginning of the line, or into it.
_TEST = re.compile(
    r"\btest (?P<name>.+?)(?: - should panic(?: - compile fail)?)? \.\.\. (?P<ending>.*)$"
)
_FAILED = re.compile(r"FAILED(?: <[\d.]+s>)?$")
_RESULT = re.compile(
    r"test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; \d+ measured"
)
_FAILURE = re.compile(r"^---- (.+?) (?:stdout|stderr) ----$")
_RERUN = re.compile(r"^error: (?:test|doctest) failed, to rerun pass")
_LINE_NUMBER = re.compile(r" \(line (\d+)\)")
_OPTION = re.compile(r" - (?:compile fail|compile|should panic)$")
_HASH = re.compile(r"-[0-9a-f]{16}(?:\.exe)?$")
_COUNTED: tuple[CaseOutcome, ...] = ("passed", "failed", "skipped")
_PANICKED = re.compile(
    r"^thread .{1,300}? panicked at .{0,300}?\.rs:(?P<line>\d{1,7}):\d", re.MULTILINE
)
_SIDE = re.compile(rf"^ *(?:left|right): `?({LITERAL})`?,?(?: at .*)?$", re.MULTILINE)
_NOISE = re.compile(r"^(?:stack backtrace:|\s+\d+: |\s+at /rustc/|note: (?:run with|Some details))")


@dataclass
class Target:
    """One test program, or the documentation tests of one crate.

    Attributes:
        crate: the crate's name.
        path: its root file, relative to its package; empty for documentation tests.
        cases: outcome by the name that libtest prints.
        failures: what was printed of each failing case.
        problem: why not every outcome is known; empty when all are.
        ended_well: whether cargo says nothing bad of how it ended.
    """

    crate: str
    path: str
    cases: dict[str, CaseOutcome] = field(default_factory=dict[str, CaseOutcome])
    failures: dict[str, str] = field(default_factory=dict[str, str])
    problem: str = ""
    ended_well: bool = True

    @property
    def name(self) -> str:
        """For people."""
        return self.path or f"documentation tests of {self.crate}"


def read_targets(output: str) -> list[Target]:
    """Every test program that cargo ran, in order.

    Args:
        output: standard output and standard error in one stream.
    """
    targets: list[tuple[Target, list[str]]] = []
    for line in output.splitlines():
        if found := _TARGET.match(line):
            stem = _HASH.sub("", re.split(r"[/\\]", found[2])[-1])
            targets.append((Target(stem, found[1]), []))
        elif found := _DOCS.match(line):
            targets.append((Target(found[1], ""), []))
        elif targets:
            targets[-1][1].append(line)
    for target, lines in targets:
        _read_target(target, lines)
    return [target for target, _ in targets]


def compile_errors(output: str) -> list[str]:
    """Each error of the compiler or of cargo itself, as it was printed; warnings are left out."""
    found: list[str] = []
    for block in re.split(r"\n\n+", output.replace("\r\n", "\n")):
        # A block of errors may begin below a line of progress (`   Compiling shop v0.1.0`).
        start = re.search(r"^error(?:\[E\d+\])?: ", block, re.MULTILINE)
        if start is not None:
            lines = block[start.start() :].rstrip().splitlines()
            found.append("\n".join(line for line in lines if not line.startswith("warning: ")))
    return found


def compared_literals(failure: str) -> list[str]:
    """The values of a comparison that failed, as far as they are literals.

    Example:
        >>> compared_literals("assertion `left == right` failed\\n  left: 5\\n right: Price(7)")
        ['5']
    """
    return _SIDE.findall(failure)


def failed_line(failure: str) -> int | None:
    """The line of the assertion that failed; None where that is not told.

    Example:
        >>> failed_line("thread 'adds' panicked at tests/sums.rs:9:5:\\nassertion failed: f(2)")
        9
    """
    found = _PANICKED.search(failure)
    return int(found["line"]) if found else None


def _read_target(target: Target, lines: list[str]) -> None:
    target.ended_well = not any(_RERUN.match(line) for line in lines)
    blocks = [number for number, line in enumerate(lines) if _RUNNING.match(line)]
    if not blocks:
        # `harness = false`: the program speaks for itself, by its exit status.
        target.cases["main"] = "passed" if target.ended_well else "failed"
        if not target.ended_well:
            target.failures["main"] = "\n".join(lines[-60:])
        return
    if target.path and len(blocks) > 1:
        target.problem = f"{target.name} says twice that it runs its tests"
        return
    numbers: dict[str, int] = {}
    for start, end in zip(blocks, [*blocks[1:], len(lines)], strict=True):
        block = lines[start:end]
        problem = _read_block(target, block, numbers)
        target.problem = target.problem or problem


def _read_block(target: Target, lines: list[str], numbers: dict[str, int]) -> str:
    """Read one `running N tests ... test result: ...`; why it is not whole, or nothing."""
    expected = int(lines[0].split()[1])
    results = [found for line in lines if (found := _RESULT.search(line))]
    if not results:
        return f"{target.name} ended before its tests did{_last_words(lines)}"
    if len(results) > 1:
        return f"{target.name} says more than once how its tests ended"
    texts = _failures(lines)
    outcomes = _outcomes(lines, set(texts) | _failed_names(lines))
    passed, failed, ignored = counts = tuple(int(count) for count in results[0].groups())
    found = Counter(outcomes.values())
    if len(outcomes) != expected or counts != tuple(found[kind] for kind in _COUNTED):
        return (
            f"the lines of {target.name} do not add up: {expected} tests, {len(outcomes)} told; "
            f"{passed} passed, {failed} failed, {ignored} ignored by its last line"
        )
    # Tests run side by side and end in any order.
    for name, outcome in sorted(outcomes.items(), key=lambda pair: _order(pair[0])):
        case = _stable(name, numbers)
        target.cases[case] = outcome
        if outcome == "failed":
            target.failures[case] = texts.get(name, "")
    return ""


def _outcomes(lines: list[str], failed: set[str]) -> dict[str, CaseOutcome]:
    """Outcome by printed name. What is neither said to have failed nor ignored has passed, if the
    counts say so too: other output may stand in the place of the word."""
    found: dict[str, CaseOutcome] = {}
    for test in filter(None, map(_TEST.search, lines)):
        if test["name"] in failed or _FAILED.search(test["ending"]):
            found[test["name"]] = "failed"
        else:
            is_ignored = test["ending"].startswith("ignored")
            found.setdefault(test["name"], "skipped" if is_ignored else "passed")
    return found


def _failures(lines: list[str]) -> dict[str, str]:
    """What libtest tells of each failing test, without the steps of the backtrace."""
    texts: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        if found := _FAILURE.match(line):
            current = texts.setdefault(found[1], [])
        elif line in ("failures:", "successes:") or _RESULT.search(line):
            current = None
        elif current is not None and not _NOISE.match(line):
            current.append(line)
    return {name: "\n".join(text).strip() for name, text in texts.items()}


def _failed_names(lines: list[str]) -> set[str]:
    """The names in the last list below `failures:`."""
    if "failures:" not in lines:
        return set()
    begin = len(lines) - lines[::-1].index("failures:")
    names = takewhile(lambda line: line.startswith("    "), lines[begin:])
    return {name.strip() for name in names}


def _stable(name: str, numbers: dict[str, int]) -> str:
    """A documentation test's name without its line, which moves with every edit above it.

    `#2` marks the second of one name.
    """
    if not _LINE_NUMBER.search(name):
        return name
    plain = _OPTION.sub("", _LINE_NUMBER.sub("", name)).strip().removesuffix(" -")
    numbers[plain] = numbers.get(plain, 0) + 1
    return plain if numbers[plain] == 1 else f"{plain}#{numbers[plain]}"


def _order(name: str) -> tuple[str, int]:
    """By name; documentation tests of one name by their line."""
    number = _LINE_NUMBER.search(name)
    return _LINE_NUMBER.sub("", name), int(number[1]) if number else 0


def _last_words(lines: list[str]) -> str:
    """How the process ended, in cargo's words."""
    for line in lines:
        if "process didn't exit successfully" in line:
            return f" ({line.strip().rpartition('(')[2].rstrip(')')})"
    return " (the process ended itself; look for `std::process::exit`)"
