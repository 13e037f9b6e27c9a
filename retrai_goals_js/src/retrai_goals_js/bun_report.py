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

_MARK = re.compile(
    r"^(?P<file>\S.*\.[cm]?[jt]sx?):$|^(?P<unhandled># Unhandled error between tests)$"
    r"|^\((?P<ended>pass|fail|skip|todo)\) (?P<name>.+?)(?: \[[\d.]+m?s\])?$",
    re.MULTILINE,
)


def read_bun_report(data: bytes, printed: str, folder: Path) -> SuiteRun:
    """Every case of the report, with what bun printed of failures.

    Args:
        data: the report's bytes; empty when there is none.
        printed: standard output and standard error.
        folder: where bun ran.
    """
    run = SuiteRun()
    texts, broken = _printed_failures(readable(printed, folder))
    if data:
        try:
            root = ET.fromstring(data)
        except ET.ParseError:
            return SuiteRun(problem="bun's report cannot be read")
        for name, outcome, said in _cases(root, "", ()):
            run.add(name, outcome, texts.get(name.replace(" > ", "::"), "") or said)
    elif not broken:  # else nothing could be loaded, so there was nothing to report
        run.problem = "bun left no report"
    for file in dict.fromkeys(broken):
        run.add(file, "error", "it could not be loaded")
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
    for found in (*case.findall("failure"), *case.findall("error")):
        return "failed", found.get("message") or found.get("type") or ""
    return ("skipped", "") if case.find("skipped") is not None else ("passed", "")


def _printed_failures(printed: str) -> tuple[dict[str, str], list[str]]:
    """What stands before each failing test, and the files that are broken."""
    texts: dict[str, str] = {}
    broken: list[str] = []
    file, start = "", 0
    for found in _MARK.finditer(printed):
        if found["file"]:
            file = found["file"]
        elif found["unhandled"]:
            broken.append(file or "bun")
        elif found["ended"] == "fail":
            title = found["name"].replace(" > ", "::")
            texts[f"{file}::{title}"] = printed[start : found.start()].strip()
        start = found.end()
    return texts, broken
