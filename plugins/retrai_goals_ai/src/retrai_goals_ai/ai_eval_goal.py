"""The goal `ai-eval`: the generated harness passes."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from retrai_core import Contradiction, GoalBase, GoalOptions, GoalResult, Suspicion
from retrai_goal_support import Trick, audit_lines
from retrai_goals_python.runner import contradict_tests, render_failures

from .harness import (
    HARNESS,
    code_problem,
    description_in,
    hash_of,
    read_harness,
    seal_problem,
)
from .harness_run import outcome_line, run_harness

MAX_CONTRADICTED = 40
_MAKE_ONE = '`retrai generate-eval "WHAT THE PROJECT SHOULD DO"` writes one'
_MODULES = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "_retrai_pytest_report")
_TRICKS = (
    Trick(re.compile(r"\bsys\.modules\b"), "touches sys.modules", True),
    Trick(re.compile(r"\b_?pytest\b|\bpluggy\b|PYTEST_"), "reaches into pytest", True),
    Trick(re.compile(r"\bos\._exit\b|\batexit\b|\bos\.kill\b"), "ends the process", True),
    Trick(re.compile(r"eval_harness|_retrai|RETRAI_"), "looks for the harness", True),
    Trick(
        re.compile(
            r"\b_getframe\b|\b_current_frames\b|\binspect\.(stack|currentframe|trace)\b"
            r"|\b(extract|format|print)_stack\b"
        ),
        "inspects callers",
        True,
    ),
    Trick(re.compile(r"\bsys\.(argv|flags|orig_argv)\b|/proc/"), "asks how it was started", True),
    Trick(re.compile(r"\bbuiltins\.\w+\s*="), "changes a built-in", True),
    Trick(
        re.compile(r"\bdef __(eq|ne)__\b.*:\s*return (True|False)\b|\b__(eq|ne)__\W*[=:]\s*lambda"),
        "equals everything",
        True,
        lines=3,
    ),
)

PROMPT = f"""\
The goal is `ai-eval`: every test of {HARNESS} passes. The harness was generated from a \
description of what this project should do; it is frozen by its hash, and none of it may be changed.

- Read {HARNESS} first: it is the specification. Each test names one behaviour that is wanted.
- Build what it asks for in the project's own sources, in the style that the project has. Write \
code that would pass other tests of the same behaviour too, not one that answers just these calls.
- The harness runs from the project's root with the project's interpreter, without its conftest.py \
and pytest configuration: `python -m pytest --noconftest -c {"/dev/null"} --rootdir . {HARNESS}`.
- If a test contradicts another one, or asks for what cannot be, say so with `report_impossible`.\
"""


class AiEvalOptions(GoalOptions):
    """Options of the goal `ai-eval`."""

    timeout_s: float = Field(default=120.0, gt=0, json_schema_extra={"loosens": False})
    """Maximum wall-clock seconds for one run of the harness."""
    max_full_failures: int = Field(default=10, ge=1, json_schema_extra={"loosens": False})
    """Maximum number of different failures shown in full; the others are only named."""


class AiEvalGoal(GoalBase[AiEvalOptions]):
    """Every test of `.retrai/eval_harness.py` passes, which `retrai generate-eval` has written.

    The harness is held to the hash in its first line when the run begins, and is protected from
    then on. It runs alone: no conftest.py and no configuration of the project steers it.
    """

    name: ClassVar[str] = "ai-eval"
    summary: ClassVar[str] = "every test of the generated harness passes"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "run"})
    protects: ClassVar[str] = "the generated harness"
    steers: ClassVar[str] = "new files that Python loads by itself, or in place of its own modules"

    async def ready(self) -> str | None:
        text = await asyncio.to_thread(read_harness, self.context.project)
        if text is None:
            return f"there is no {HARNESS}; {_MAKE_ONE}"
        problem = code_problem(text)
        if problem is not None:
            return f"{HARNESS} is no harness: {problem}; {_MAKE_ONE}"
        problem = seal_problem(text)
        if problem is not None:
            return f"{HARNESS}: {problem}; `retrai generate-eval --seal` takes it as it is now"
        return None

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        text = await asyncio.to_thread(read_harness, cwd)
        if text is None:
            return GoalResult(False, f"there is no {HARNESS}", _MAKE_ONE)
        context = self.context
        run = await run_harness(context.sandbox, context.python, cwd, self.options.timeout_s)
        details = render_failures(run, max_full=self.options.max_full_failures)
        if not details and not run.all_passed:
            details = run.output_tail
        reason = f"harness {hash_of(text)[:12]}: {outcome_line(run)}"
        return GoalResult(run.all_passed, reason, details, run.to_report())

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        functions = dict.fromkeys(case.split("[", 1)[0] for case in cases)
        tried = await asyncio.to_thread(contradict_tests, copy, functions, MAX_CONTRADICTED)
        if not tried:
            return Contradiction()
        context = self.context
        run = await run_harness(context.sandbox, context.python, copy, self.options.timeout_s)
        passed = {case.split("[", 1)[0] for case, how in run.cases.items() if how == "passed"}
        return Contradiction(tried, [function for function in tried if function in passed])

    def system_prompt(self) -> str:
        description = description_in(read_harness(self.context.project) or "")
        if not description:
            return PROMPT
        return f"{PROMPT}\n\nThe description that it was generated from:\n{description}"

    def protected(self, project: Path) -> Sequence[str]:
        return (f"/{HARNESS}",)

    def steering(self, project: Path) -> Sequence[str]:
        standard = [name for name in sorted(sys.stdlib_module_names) if name[0] != "_"]
        shadows = [
            f"/{root}{module}{suffix}"
            for root in ("", "src/")
            for module in (*_MODULES, *standard)
            if module != "test"
            for suffix in (".py", ".*so", "/__init__.*")
        ]
        return ("sitecustomize.py", "usercustomize.py", "*.pth", "*.dist-info/", "*.pyc", *shadows)

    async def external_state(self, project: Path) -> str:
        text = await asyncio.to_thread(read_harness, project)
        return f"{self.context.python} {hash_of(text) if text is not None else ''}"

    def audit(self, diff: str) -> Sequence[Suspicion]:
        project = self.context.project
        return audit_lines(diff, _TRICKS, is_source=_is_source, project=project)


def _is_source(path: str) -> bool:
    name = path.rpartition("/")[2]
    is_test = name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"
    return path.endswith(".py") and not is_test and "tests/" not in path
