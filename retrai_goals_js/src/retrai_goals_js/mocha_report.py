"""Reads the JSON report that mocha writes."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from retrai_core import CaseOutcome

from .suite_run import SuiteRun, readable, relative

_HOOK = re.compile(r'^"(?:before|after) (?:all|each)" hook')


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_camel)


class MochaError(_Part):
    """Why a test failed; both are empty for one that did not."""

    message: str = ""
    stack: str = ""


class MochaTest(_Part):
    """One test, or a hook that failed."""

    title: str
    full_title: str
    file: str | None = None
    err: MochaError = MochaError()


class MochaReport(_Part):
    """What `--reporter json` writes."""

    tests: list[MochaTest]
    pending: list[MochaTest] = Field(default_factory=list[MochaTest])
    failures: list[MochaTest] = Field(default_factory=list[MochaTest])
    passes: list[MochaTest] = Field(default_factory=list[MochaTest])


def read_mocha_report(data: bytes, folder: Path) -> SuiteRun:
    """Every case of the report; a hook that failed is a case with the outcome `error`.

    Args:
        data: the report's bytes; empty when there is none.
        folder: where mocha ran.
    """
    run = SuiteRun()
    if not data:
        run.problem = "mocha left no report"
        return run
    try:
        report = MochaReport.model_validate_json(data)
    except ValidationError:
        run.problem = "mocha's report cannot be read"
        return run
    outcomes: list[tuple[list[MochaTest], CaseOutcome]] = [
        (report.pending, "skipped"),
        (report.failures, "failed"),
        (report.passes, "passed"),
    ]
    ended: dict[tuple[str, str], list[tuple[CaseOutcome, MochaTest]]] = {}
    for tests, outcome in outcomes:
        for test in tests:
            ended.setdefault(_key(test), []).append((outcome, test))
    for test in report.tests:
        waiting = ended.get(_key(test))
        outcome, told = waiting.pop(0) if waiting else ("error", test)
        run.add(_name(test, folder), outcome, _text(told, folder) or "it did not end")
    for waiting in ended.values():
        for outcome, test in waiting:
            # What failed and is no test is a hook: it stands for the tests of its suite.
            hook = _HOOK.match(test.title) if outcome == "failed" else None
            name = _name(test, folder)
            place = name.removesuffix(f"::{test.title}") if hook else name
            text = f"{test.title}\n{_text(test, folder)}" if hook else _text(test, folder)
            run.add(place, "error" if outcome == "failed" else outcome, text)
    return run


def _key(test: MochaTest) -> tuple[str, str]:
    return test.file or "", test.full_title


def _name(test: MochaTest, folder: Path) -> str:
    above = test.full_title.removesuffix(test.title).strip()
    title = f"{above}::{test.title}" if above else test.title
    return f"{relative(test.file, folder)}::{title}" if test.file else title


def _text(test: MochaTest, folder: Path) -> str:
    said = test.err.stack if test.err.message in test.err.stack else ""
    return readable(said or f"{test.err.message}\n{test.err.stack}", folder)
