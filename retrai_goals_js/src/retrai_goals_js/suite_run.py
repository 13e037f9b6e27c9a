"""What one run of a JavaScript test suite showed, whatever the runner."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from retrai_core import CaseOutcome

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_FRAME = re.compile(r"^\s+at .*(?:node_modules|node:|internal/)")
_FAILING = ("failed", "error")
MAX_FRAMES = 3
MAX_BYTES = 100_000_000
"""Of a report, so much is read."""


@dataclass
class SuiteRun:
    """Cases by id (`src/sum.test.ts::sum::adds`), in the order of the report.

    Attributes:
        cases: outcome by id; a file that could not be loaded is one case, named by its path.
        failures: what the model reads of each failing case.
        problem: why the report is not whole; empty when it is.
    """

    cases: dict[str, CaseOutcome] = field(default_factory=dict[str, CaseOutcome])
    failures: dict[str, str] = field(default_factory=dict[str, str])
    problem: str = ""

    def add(self, name: str, outcome: CaseOutcome, text: str = "") -> None:
        """Take a case; `#2` marks the second of one id."""
        number, case = 1, name
        while case in self.cases:
            number += 1
            case = f"{name}#{number}"
        self.cases[case] = outcome
        if outcome in _FAILING and text:
            self.failures[case] = text

    def failed(self) -> list[str]:
        """The cases that failed or could not be run."""
        return [case for case, outcome in self.cases.items() if outcome in _FAILING]


def relative(file: str, folder: Path) -> str:
    """A file as it reads from `folder`, with forward slashes.

    Args:
        file: absolute, or relative to `folder`.
        folder: where the runner ran.
    """
    root = os.path.realpath(folder)
    path = os.path.realpath(os.path.join(root, file.removeprefix("file://")))
    return os.path.relpath(path, root).replace(os.sep, "/")


def readable(text: str, folder: Path) -> str:
    """A message without colours, and without the steps through the runner.

    Args:
        text: as the runner gave it.
        folder: where the runner ran, which is cut from places.
    """
    kept: list[str] = []
    frames = 0
    for line in _ANSI.sub("", text).splitlines():
        if _FRAME.match(line):
            continue
        if line.lstrip().startswith("at "):
            frames += 1
            if frames > MAX_FRAMES:
                continue
        kept.append(line.rstrip())
    plain = "\n".join(kept).strip()
    for root in dict.fromkeys((os.path.realpath(folder), str(folder))):
        plain = plain.replace(f"file://{root}/", "").replace(f"{root}/", "")
    return plain
