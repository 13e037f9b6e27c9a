"""Reads what `cargo bench` prints: libtest's lines, Criterion's, and the lines beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

_LIBTEST = re.compile(
    r"^test (?P<name>.+?) \.\.\. bench:\s+(?P<figure>[\d,]+(?:\.\d+)?) (?P<unit>\w+)/iter"
)
_CRITERION = re.compile(
    r"^(?P<name>.*?)\s*time:\s+\[[\d.]+ \S+ (?P<figure>[\d.]+) (?P<unit>\S+) [\d.]+ \S+\]"
)
_NS = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
_NOISE = re.compile(
    r"^\s*$|^running \d+ tests?$|^test .* \.\.\. ignored|^test result:|^Benchmarking |^Found \d+"
    r"|^\s+\d+ \([\d.]+%\)|^\s*(?:change|thrpt|time):|^\s*(?:Performance has|No change)"
    r"|^\s*Change within"
    r"|Gnuplot|^WARNING:|^Warming up|^Collecting"
)


@dataclass
class Benched:
    """One run of the benchmarks.

    Attributes:
        ns: nanoseconds of one iteration by benchmark.
        twice: benchmarks that were reported more than once.
        lines: what was printed beside the figures.
    """

    ns: dict[str, float] = field(default_factory=dict[str, float])
    twice: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])


def read_bench(stdout: str) -> Benched:
    """The figures and the other lines.

    Example:
        >>> read_bench("test sum ... bench:       1,234.50 ns/iter (+/- 3)\\nsum is 7\\n")
        Benched(ns={'sum': 1234.5}, twice=[], lines=['sum is 7'])
        >>> read_bench("sum/1000    time:   [1.10 µs 1.20 µs 1.30 µs]\\n").ns
        {'sum/1000': 1200.0}
    """
    found = Benched()
    before = ""
    for line in stdout.splitlines():
        match = _LIBTEST.search(line) or _CRITERION.search(line)
        if match is not None and match["unit"] in _NS:
            # Criterion puts a long name on a line of its own.
            name = match["name"].strip() or before.strip()
            if not match["name"].strip() and found.lines and found.lines[-1] == before.rstrip():
                found.lines.pop()
            if name in found.ns:
                found.twice.append(name)
            found.ns[name] = float(match["figure"].replace(",", "")) * _NS[match["unit"]]
        elif not _NOISE.search(line):
            found.lines.append(line.rstrip())
        before = line
    return found


def steady_lines(runs: Sequence[Benched]) -> list[str]:
    """The lines that every run printed, as often as each did, sorted."""
    common = Counter(runs[0].lines)
    for run in runs[1:]:
        common &= Counter(run.lines)
    return sorted(common.elements())
