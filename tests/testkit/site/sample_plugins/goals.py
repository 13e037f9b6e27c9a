"""One goal that keeps the contract, and goals that each break a rule."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import uuid

from pydantic import Field

from retrai_core import CheckReport, Detection, GoalBase, GoalOptions, GoalResult, Marker


class GoodWords(GoalBase):
    """Each line of words.txt is `right`."""

    name = "good-words"
    summary = "every line of words.txt is right"
    markers = (Marker("words.txt"),)

    class Options(GoalOptions):
        timeout_s: float = Field(
            default=600.0,
            gt=0,
            description="seconds that a check may take",
            json_schema_extra={"loosens": False},
        )

    @classmethod
    def detect(cls, project):
        return Detection("words.txt") if (project / "words.txt").exists() else None

    async def check(self, state, cwd):
        command = ["sh", "check.sh"] if (cwd / "check.sh").exists() else ["cat", "words.txt"]
        done = await self.context.sandbox.run(command, timeout_s=self.options.timeout_s, cwd=cwd)
        complete = done.exit_code == 0
        return self.judged(done.stdout.split("\n")[:-1], command, complete, cwd)

    def judged(self, lines, command, complete, cwd):
        cases = {
            self.case_id(number, cwd): "passed" if line == "right" else "failed"
            for number, line in enumerate(lines)
        }
        wrong = sum(outcome == "failed" for outcome in cases.values())
        achieved = complete and bool(cases) and not wrong
        reason = f"{wrong} of {len(cases)} lines are wrong" if complete else "it broke down"
        return GoalResult(achieved, reason, "", CheckReport(cases, command, complete=complete))

    def case_id(self, number, cwd):
        return f"line-{number}"

    def system_prompt(self):
        return "Write `right` in every line of words.txt."

    def steering(self, project):
        return ("check.sh",)


class UnstableIds(GoodWords):
    name = "unstable-ids"

    def case_id(self, number, cwd):
        return f"line-{number}-{uuid.uuid4().hex}"


class IdsWithFolder(GoodWords):
    name = "ids-with-folder"

    def case_id(self, number, cwd):
        return f"{cwd}/line-{number}"


class IgnoresCwd(GoodWords):
    name = "ignores-cwd"

    async def check(self, state, cwd):
        return await super().check(state, self.context.project)


class NoReason(GoodWords):
    name = "no-reason"

    def judged(self, lines, command, complete, cwd):
        result = super().judged(lines, command, complete, cwd)
        return GoalResult(result.achieved, "", "", result.report)


class BadGlobs(GoodWords):
    name = "bad-globs"

    def protected(self, project):
        return (f"{project}/words.txt", "../words.txt")


class PastSandboxGoal(GoodWords):
    name = "past-sandbox-goal"

    async def check(self, state, cwd):
        command = ["cat", cwd / "words.txt"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return self.judged(done.stdout.split("\n")[:-1], ["cat"], done.returncode == 0, cwd)


class Raises(GoodWords):
    name = "raises"

    def judged(self, lines, command, complete, cwd):
        if not complete:
            raise RuntimeError("the runner broke down")
        return super().judged(lines, command, complete, cwd)


class Litters(GoodWords):
    name = "litters"
    seen = []

    async def check(self, state, cwd):
        (cwd / "report.xml").write_text("<report/>")
        self.seen.append(cwd)
        os.environ["LITTERS"] = str(cwd)
        return await super().check(state, cwd)


class Green(GoodWords):
    name = "green"

    def judged(self, lines, command, complete, cwd):
        cases = {self.case_id(number, cwd): "green" for number, _ in enumerate(lines)}
        return GoalResult(complete, "green", "", CheckReport(cases, command, complete=complete))


class PassesWithoutReport(GoodWords):
    name = "passes-without-report"

    def judged(self, lines, command, complete, cwd):
        result = super().judged(lines, command, complete, cwd)
        return dataclasses.replace(result, report=None) if result.achieved else result


class TextAsAnswer(GoodWords):
    name = "text-as-answer"

    def protected(self, project):
        return "words.txt"

    async def external_state(self, project):
        return None


class UnknownNeeds(GoodWords):
    name = "unknown-needs"
    needs = frozenset({"read", "run", "internet"})


class OptionOfTheCore(GoodWords):
    name = "option-of-the-core"

    class Options(GoodWords.Options):
        max_iterations: int = Field(default=3, description="how often it is tried")
        task: str = Field(default="", description="may be a goal's too")


class OneName(GoodWords):
    name = "another-name"
