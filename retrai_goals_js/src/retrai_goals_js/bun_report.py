"""Reads bun's JUnit report, and from its output what the report leaves out.

The report has every test that ran. Why one failed, and which files could not be loaded, stand only
in what bun prints.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

from retrai_core import CaseOutcome

from .suite_run import SuiteRun, readable

MAX_BYTES = 50_000_000
_FILE = re.compile(r"^(?P<file>\S.*\.(?:[cm]?[jt]sx?)):$")
_ENDED = re.compile(r"^\((?P<how>pass|fail|skip|todo)\) (?P<name>.+?)(?: \[[\d.]+m?s\])?$")
_UNHANDLED = re.compile(r"^# Unhandled error between tests$")
_TOTALS = re.compile(r"^ *(\d+) (pass|fail|skip|todo|errors?)$")


def read_bun_report(data: bytes, printed: str, folder: Path) -> SuiteRun:
    """Every case of the report, with what bun printed of failures.

    Args:
        data: the report's bytes; empty when there is none.
        printed: standard output and standard error.
        folder: where bun ran.
    """
    run = SuiteRun()
    texts, broken = _printed_failures(readable(printed, folder))
    if not data or len(data) > MAX_BYTES:
        run.problem = "bun left no report"
        if not broken:
            return run
    else:
        try:
            root = ET.fromstring(data)
        except ET.ParseError:
            run.problem = "bun's report cannot be read"
            return run
        for name, outcome, said in _cases(root, "", ()):
            run.add(name, outcome, texts.get(name.replace(" > ", "::"), "") or said)
    for file, text in broken.items():
        run.add(file, "error", text)
    if run.problem and broken and set(run.cases) == set(broken):
        run.problem = ""  # nothing could be loaded, so there was nothing to report
    return run


def _cases(
    node: ET.Element, file: str, titles: tuple[str, ...]
) -> Iterator[tuple[str, CaseOutcome, str]]:
    for child in node:
        place = child.get("file") or file
        if child.tag == "testsuite":
            title = html.unescape(child.get("name") or "")
            # The outermost suite of a file has the file's name.
            inner = titles if title == place else (*titles, title)
            yield from _cases(child, place, inner)
        elif child.tag == "testcase":
            name = "::".join([*titles, html.unescape(child.get("name") or "")])
            outcome, said = _outcome(child)
            yield f"{place}::{name}", outcome, said


def _outcome(case: ET.Element) -> tuple[CaseOutcome, str]:
    for tag in ("failure", "error"):
        found = case.find(tag)
        if found is not None:
            said = " ".join(filter(None, [found.get("type"), found.get("message"), found.text]))
            return "failed", said.strip()
    return ("skipped", "") if case.find("skipped") is not None else ("passed", "")


def _printed_failures(printed: str) -> tuple[dict[str, str], dict[str, str]]:
    """What stands before each failing test, and what stands below a file that is broken."""
    texts: dict[str, str] = {}
    broken: dict[str, str] = {}
    file, lines, unhandled = "", list[str](), False
    for line in printed.splitlines():
        if found := _FILE.match(line):
            file, lines, unhandled = found["file"], [], False
        elif found := _ENDED.match(line):
            if found["how"] == "fail":
                title = found["name"].replace(" > ", "::")
                texts[f"{file}::{title}"] = "\n".join(lines).strip()
            lines, unhandled = [], False
        elif _UNHANDLED.match(line):
            lines, unhandled = [], True
        elif unhandled and _TOTALS.match(line):
            unhandled = False
        else:
            lines.append(line)
            if unhandled and line.strip("- "):
                broken[file] = f"{broken.get(file, '')}{line}\n"
    return texts, {file or "bun": text.strip() for file, text in broken.items()}
