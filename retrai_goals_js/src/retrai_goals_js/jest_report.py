"""Reads the JSON report of jest, which vitest and our reporter for mocha write too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from retrai_core import CaseOutcome

from .suite_run import SuiteRun, readable, relative

OUTCOMES: Mapping[str, CaseOutcome] = {
    "passed": "passed",
    "failed": "failed",
    "pending": "skipped",
    "skipped": "skipped",
    "todo": "skipped",
    "disabled": "skipped",
    "focused": "passed",
}


class ReportPart(BaseModel):
    """A part of a report that JavaScript wrote."""

    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_camel)


class Assertion(ReportPart):
    """One test; without titles, what stands for the file or the suite as a whole."""

    ancestor_titles: list[str] = Field(default_factory=list[str])
    title: str
    status: str
    failure_messages: list[str] | None = None


class FileResult(ReportPart):
    """One test file; `name` is its absolute path."""

    name: str
    status: str = "passed"
    message: str = ""
    assertion_results: list[Assertion] = Field(default_factory=list[Assertion])


class JestReport(ReportPart):
    """What `--json --outputFile` writes."""

    success: bool
    was_interrupted: bool = False
    test_results: list[FileResult]


def read_jest_report(data: bytes, folder: Path) -> SuiteRun:
    """Every case of the report.

    Args:
        data: the report's bytes; empty when there is none.
        folder: where the runner ran.
    """
    if not data:
        return SuiteRun(problem="the runner left no report")
    try:
        report = JestReport.model_validate_json(data)
    except ValidationError:
        return SuiteRun(problem="the runner's report cannot be read")
    run = SuiteRun()
    for file in sorted(report.test_results, key=lambda file: file.name):
        for test in file.assertion_results:
            text = "\n\n".join(readable(said, folder) for said in test.failure_messages or ())
            titles = [*test.ancestor_titles, test.title]
            run.add(case_id(file.name, titles, folder), OUTCOMES.get(test.status, "error"), text)
        if not file.assertion_results and file.status != "passed":
            text = readable(file.message, folder) or "it could not be loaded"
            run.add(case_id(file.name, (), folder), "error", text)
    if report.was_interrupted:
        run.problem = "the runner was interrupted"
    elif not report.success and not run.failures and "failed" not in run.cases.values():
        run.problem = "the runner says that it failed, though no test did"
    return run


def case_id(file: str, titles: Sequence[str], folder: Path) -> str:
    """The id of a test.

    Args:
        file: its absolute path; empty where it is not known.
        titles: of the suites around it, and its own.
        folder: where the runner ran.
    """
    return "::".join(filter(None, [relative(file, folder) if file else "", *titles]))
