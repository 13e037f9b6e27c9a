"""What the goals with a judge have in common: a text's score by a rubric reaches a target."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from retrai_core import (
    CheckReport,
    Contradiction,
    GoalBase,
    GoalResult,
    RetraiError,
    RunContext,
)

from .judged_options import JudgedOptions
from .judgement import Case
from .manipulation import suspicious_lines
from .panel import Verdict, ask_panel

NO_JUDGES = ("offline", "replay:")
"""Models that answer with tool calls of their own choice and cannot be asked for an opinion."""


class JudgedGoal(GoalBase[JudgedOptions]):
    """Base of the goals whose text a judge scores."""

    needs: ClassVar[frozenset[str]] = frozenset({"read", "network"})
    default_tools: ClassVar[Sequence[str]] = (
        "file_read",
        "file_list",
        "file_write",
        "file_patch",
        "grep_search",
        "find_files",
    )
    protects: ClassVar[str] = "the files with the rubric and with the source, where they are given"
    own_rubric: ClassVar[str] = ""
    keeps_what_is_said: ClassVar[bool] = False

    def __init__(self, options: JudgedOptions, context: RunContext) -> None:
        super().__init__(options, context)
        self._judged: dict[str, Verdict] = {}

    @property
    def judge_name(self) -> str:
        """The judge's model."""
        return self.options.judge_model or self.context.model_name

    @property
    def case_id(self) -> str:
        """The one case of every check."""
        return f"{self.options.file} scores {self.options.target_score:g}"

    async def ready(self) -> str | None:
        if self.judge_name.startswith(NO_JUDGES):
            return f"the model {self.judge_name} cannot judge a text: name one with `judge_model`"
        rubric = await asyncio.to_thread(self._rubric, self.context.project)
        if not rubric.strip():
            return f"the rubric file {self.options.rubric_file} is missing or empty"
        if self.options.source:
            _, problem = await asyncio.to_thread(self._source, self.context.project)
            if problem:
                return problem
        try:
            await asyncio.to_thread(self.context.chat_model, self.judge_name)
        except (RetraiError, RuntimeError) as error:
            return f"the judge {self.judge_name} cannot be asked: {error}"
        return None

    async def check(self, state: Mapping[str, Any], cwd: Path) -> GoalResult:
        text, problem = await asyncio.to_thread(self._text, cwd)
        if problem:
            source, _ = await asyncio.to_thread(self._source, cwd)
            await asyncio.to_thread(self._original, source)  # nothing else was there before
            return self._answer(False, problem)
        if problem := self.text_problem(text):
            return self._answer(False, problem)
        source, problem = await asyncio.to_thread(self._source, cwd)
        if problem:
            return self._answer(False, problem)
        original = await asyncio.to_thread(self._original, source or text)
        rubric = await asyncio.to_thread(self._rubric, cwd)
        known = {line for _, line in suspicious_lines(original)}
        for number, line in suspicious_lines(text):
            if line not in known:
                said = f"line {number} of {self.options.file} speaks to the judge, not to readers"
                return self._answer(False, said, f"Take it out:\n{line}")
        before = original if self.keeps_what_is_said and original != text else ""
        redact = self.context.redact
        given = "" if self.keeps_what_is_said else source
        case = Case(redact(text), rubric, self.brief_for_judge(), redact(before), redact(given))
        return self._weighed(await self._verdict(case))

    def protected(self, project: Path) -> Sequence[str]:
        files = (self.options.rubric_file, self.options.source)
        return tuple(f"/{file}" for file in files if file)

    async def external_state(self, project: Path) -> str:
        return f"{self.judge_name} {self.options.target_score:g}"

    async def contradict(self, copy: Path, cases: Sequence[str]) -> Contradiction:
        """A judge that also likes the text's words in any order at all is no judge."""
        text, problem = await asyncio.to_thread(self._text, copy)
        if problem or self.case_id not in cases:
            return Contradiction()
        words = text.split()
        random.Random(len(words)).shuffle(words)
        rubric = await asyncio.to_thread(self._rubric, copy)
        verdict = await self._verdict(Case(" ".join(words), rubric, self.brief_for_judge()))
        if verdict.score is None or len(words) < 20:
            return Contradiction()
        still = [self.case_id] if verdict.score >= self.options.target_score else []
        return Contradiction([self.case_id], still)

    async def _verdict(self, case: Case) -> Verdict:
        """Asked once for a text: a judge's mood is no reason to call a verdict flaky."""
        told = repr((case.text, case.rubric, case.brief, case.original, case.source))
        key = hashlib.sha256(told.encode()).hexdigest()
        if key not in self._judged:
            try:
                model = await asyncio.to_thread(self.context.chat_model, self.judge_name)
            except (RetraiError, RuntimeError) as error:
                return Verdict(None, (), f"the judge cannot be asked: {error}", complete=False)
            verdict = await ask_panel(model, case, self.options.timeout_s, self._tell)
            if not verdict.complete:
                return verdict
            self._judged[key] = verdict
        return self._judged[key]

    def _tell(self, tokens: int) -> None:
        message = f"judged by {self.judge_name} ({tokens} tokens)"
        self.context.publish("log", level="info", message=message)

    def _weighed(self, verdict: Verdict) -> GoalResult:
        details = _advice(verdict)
        if verdict.score is None:
            return self._answer(False, verdict.problem, details, complete=verdict.complete)
        if verdict.manipulation:
            said = f"the judge finds a passage of {self.options.file} that is meant for it"
            return self._answer(False, said, f"Take it out:\n{verdict.manipulation}")
        target = self.options.target_score
        scores = " and ".join(f"{judgement.score:g}" for judgement in verdict.judgements)
        reason = f"{self.options.file} scores {verdict.score:.1f} of {target:g} ({scores})"
        return self._answer(verdict.score >= target, reason, details)

    def _answer(
        self, achieved: bool, reason: str, details: str = "", *, complete: bool = True
    ) -> GoalResult:
        outcome = "passed" if achieved else "failed"
        command = ["judge", self.judge_name, self.options.file]
        report = CheckReport({self.case_id: outcome}, command, complete=complete)
        return GoalResult(achieved, " ".join(reason.split()), details, report)

    def brief_for_judge(self) -> str:
        """What the judge is told of the text's purpose."""
        return self.options.brief

    def text_problem(self, text: str) -> str:
        """Why a text fails before a judge has seen it; empty where it does not."""
        return ""

    def _source(self, project: Path) -> tuple[str, str]:
        """What the text is made from, and why it cannot be read; both empty where it is nothing."""
        file = self.options.source
        if not file:
            return "", ""
        text, problem = self._text(project, file)
        return text, problem and f"input_file: {problem}"

    def _rubric(self, project: Path) -> str:
        if not self.options.rubric_file:
            return self.options.rubric.strip() or self.own_rubric
        try:
            return (project / self.options.rubric_file).read_text("utf-8", "replace")
        except OSError:
            return ""

    def _text(self, project: Path, file: str = "") -> tuple[str, str]:
        """A text, by default the one to be judged, and why it cannot be used; one is empty."""
        file, limit = file or self.options.file, self.options.max_chars
        try:
            data = (project / file).read_bytes()[: 4 * limit + 4]
        except OSError:
            return "", f"there is no {file} yet"
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
            if len(text) <= limit:
                return "", f"{file} is no UTF-8 text"
        if len(text) > limit:
            return "", f"{file} is longer than max_chars={limit}"
        return (text, "") if text.strip() else ("", f"{file} is empty")

    def _original(self, text: str) -> str:
        """The text as the run found it, kept outside the project."""
        kept = self.context.run_dir / "judged-text-before"
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
        return kept.read_bytes().decode("utf-8", "surrogatepass")


def _advice(verdict: Verdict) -> str:
    """What the author can go by: each judgement's score, its reason, and the weaknesses."""
    parts: list[str] = []
    for judgement in verdict.judgements:
        points = "".join(f"\n- {weakness[:500]}" for weakness in judgement.weaknesses[:10])
        parts.append(f"{judgement.score:g}: {judgement.reason[:2000]}{points}")
    return "\n\n".join(parts)
