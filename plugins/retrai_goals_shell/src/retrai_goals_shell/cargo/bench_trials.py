"""Benchmarks with other inputs, or with one round, which a project must be faster with too.

They are run when the run begins and at its end, on copies. What is fast for the known inputs alone,
or because it remembers its answers, is not faster there; and what is right for them alone prints
something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isclose, sqrt
from pathlib import Path

from pydantic import Field

from retrai_goal_support import SavedModel, project_files, text_of

from ..syntax_tree import descendants
from .bench import Benched
from .source import parse_rust

LONGEST_S = 60.0
"""A benchmark that takes longer is not run with other inputs."""
LEAST, MOST = 5, 10_000_000
"""Other integers are flags and widths, or constants of a hash."""
LEAST_GAIN, GAIN_OF_ONE_ROUND = 6.0, 2.0
"""What is at least so many times as fast must be so many times as fast in one round, in which
nothing is cached yet; with other inputs at least the square root of it."""
MIN_ROUND_NS = 20_000.0
"""One round of what took less tells nothing: it measures the clock, and what is not yet cached."""
ONE_ROUND = "with one round"
WITH_OTHER_INPUTS = "with other inputs"
_INTEGER = re.compile(rb"(?P<digits>\d[\d_]*)(?P<suffix>[iu]\w+)?")
_DECIMALS = re.compile(rb"(?<=:\.)(\d)(?=\}|e\})")
_IS_EXPONENT = re.compile(rb"(?:<<|>>|\bpowi?\()\s*$")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_STARTS_CLOCK = "Instant::now()"
_ROUNDS = re.compile(r"(\bfor\s+_\w*\s+in\s+0\s*\.\.=?\s*)[\w.]+(?:\(\))?")
_MUTABLE_STATIC = re.compile(
    r"\bthread_local!\s*\{[^}]*\b(?:Ref)?Cell\b|\bstatic\s+mut\b"
    r"|\bstatic\b[^;=]*\b(?:Mutex|RwLock|(?:Ref)?Cell|Atomic\w+)\b"
)


class BenchTrial(SavedModel):
    """Runs of the benchmarks.

    Attributes:
        lines: what each printed beside the figures.
        ns: nanoseconds of one iteration by benchmark, the least of the runs.
    """

    lines: list[str] = Field(default_factory=list[str])
    ns: dict[str, float] = Field(default_factory=dict[str, float])


class BenchTrials(SavedModel):
    """What the benchmarks and the trials gave when the run began.

    Attributes:
        usual: the benchmarks as they are.
        trials: by the name of the trial.
        mutable_statics: how many the sources have.
    """

    usual: BenchTrial
    trials: dict[str, BenchTrial] = Field(default_factory=dict[str, BenchTrial])
    mutable_statics: int = 0

    def problem(self, name: str, now: Mapping[str, float], others: Sequence[Benched]) -> str:
        """Why a trial speaks against the work; empty where it does not.

        Args:
            name: of the trial.
            now: the figures of the benchmarks as they are.
            others: what the trial gives now, in some runs.
        """
        then = self.trials[name]
        for line in then.lines:
            if not all(any(is_same_output(line, each) for each in other.lines) for other in others):
                return f"{name} the benchmarks do not print {line!r} any more"
        least = least_figures(others)
        for bench, ns in now.items():
            before, before_there = self.usual.ns.get(bench, 0.0), then.ns.get(bench, 0.0)
            there = least.get(bench, 0.0)
            if not all((ns, before, before_there, there)):
                continue
            is_one_round = name == ONE_ROUND
            # What the old code was quick with too, or too quick to tell.
            if before < MIN_ROUND_NS if is_one_round else before_there < before / 2:
                continue
            gain, other_gain = before / ns, before_there / there
            wanted = GAIN_OF_ONE_ROUND if is_one_round else sqrt(gain)
            if gain >= LEAST_GAIN and other_gain < wanted:
                return f"{bench} is {gain:,.1f} times as fast, and {name} {other_gain:,.1f} times"
        return ""


def is_same_output(line: str, other: str) -> bool:
    """Whether two printed lines are the same but for the last digits of their decimals.

    Example:
        >>> [is_same_output("mean 4.000001", line) for line in ("mean 4.000002", "mean 4.01")]
        [True, False]
    """
    if _NUMBER.sub("0", line) != _NUMBER.sub("0", other):
        return False
    pairs = zip(_NUMBER.findall(line), _NUMBER.findall(other), strict=True)
    return all(
        one == two or ("." in one + two and isclose(float(one), float(two), rel_tol=1e-6))
        for one, two in pairs
    )


def least_figures(runs: Sequence[Benched]) -> dict[str, float]:
    """The least figure of each benchmark that every run has: other programs only make it larger."""
    names = set[str].intersection(*(set(run.ns) for run in runs)) if runs else set[str]()
    return {name: min(run.ns[name] for run in runs) for name in sorted(names)}


def with_other_inputs(source: str) -> str:
    """A benchmark with other numbers, and printed with more decimals. What numbers are divided by
    becomes one less, so that they stay within what a table has, or a month.

    Equal numbers stay equal, so that rounds are counted right.

    Example:
        >>> with_other_inputs('fn main() { for n in 0..70 { print!("{:.1}", run(n % 10, 2)); } }')
        'fn main() { for n in 0..81 { print!("{:.4}", run(n % 9, 2)); } }'
    """
    data = source.encode()
    edits: list[tuple[int, int, bytes]] = []
    for node in descendants(parse_rust(source)):
        start, end = node.start_byte, node.end_byte
        text, before = data[start:end], data[max(start - 20, 0) : start].rstrip()
        found = _INTEGER.fullmatch(text) if node.type == "integer_literal" else None
        if node.type == "string_literal":
            edits.append((start, end, _DECIMALS.sub(lambda n: b"%d" % (int(n[0]) + 3), text)))
        elif found and not _IS_EXPONENT.search(before):
            value = int(found["digits"].replace(b"_", b""))
            if LEAST <= value <= MOST:
                other = value - 1 if before.endswith(b"%") else value + value // 7 + 1
                edits.append((start, end, b"%d%s" % (other, found["suffix"] or b"")))
    for start, end, text in sorted(edits, reverse=True):
        data = data[:start] + text + data[end:]
    return data.decode()


def with_one_round(source: str) -> str:
    """A benchmark whose loops without a counter run once, where the clock runs. What it divides the
    time by stays: only figures of such benchmarks are compared.

    Example:
        >>> with_one_round("fn main() { let begun = Instant::now(); for _ in 0..50 { run(7); } }")
        'fn main() { let begun = Instant::now(); for _ in 0..1 { run(7); } }'
    """
    before, clock, after = source.partition(_STARTS_CLOCK)
    return before + clock + _ROUNDS.sub(r"\g<1>1", after)


TRIALS: Mapping[str, Callable[[str], str]] = {
    WITH_OTHER_INPUTS: with_other_inputs,
    ONE_ROUND: with_one_round,
}


def changed_benches(folder: Path, change: Callable[[str], str]) -> dict[Path, tuple[str, str]]:
    """The benchmark programs below a folder that a trial changes: the text, and the other one."""
    names = (name for name in project_files(folder) if name.endswith(".rs"))
    paths = [folder / name for name in names if "benches" in Path(name).parts]
    texts = {path: text_of(path) for path in paths if not path.is_symlink()}
    pairs = {path: (text, change(text)) for path, text in texts.items()}
    return {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}


def count_mutable_statics(sources: Iterable[Path]) -> int:
    """How many variables sources have that keep something between calls and can change."""
    return sum(len(_MUTABLE_STATIC.findall(text_of(path))) for path in sources)
