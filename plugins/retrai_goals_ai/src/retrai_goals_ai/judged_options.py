"""What the goals with a judge are told."""

from __future__ import annotations

from pydantic import Field, model_validator

from retrai_core import GoalOptions
from retrai_goal_support import ProjectFile

from .judgement import HIGHEST, LOWEST


class JudgedOptions(GoalOptions):
    """Options of the goals whose text a judge scores."""

    file: ProjectFile = Field(json_schema_extra={"loosens": True})
    """The text's file, relative to the project."""
    target_score: float = Field(
        default=8.0, ge=LOWEST, le=HIGHEST, json_schema_extra={"loosens": True}
    )
    """The score, from 1 to 10, with which the goal is achieved."""
    judge_model: str = Field(default="", json_schema_extra={"loosens": True})
    """The judge: any model that an installed provider knows; the run's own when left out."""
    rubric: str = Field(default="", json_schema_extra={"loosens": True})
    """What counts, in words. The text's author reads it too."""
    rubric_file: ProjectFile = Field(default="", json_schema_extra={"loosens": True})
    """A file of the project that holds the rubric; it is protected."""
    brief: str = Field(default="", json_schema_extra={"loosens": True})
    """What the text is for, and for whom."""
    timeout_s: float = Field(default=120.0, gt=0, le=3600, json_schema_extra={"loosens": False})
    """Seconds for one judgement."""
    max_chars: int = Field(
        default=60_000, ge=100, le=1_000_000, json_schema_extra={"loosens": True}
    )
    """The longest text that is judged, in characters."""

    @model_validator(mode="after")
    def _one_rubric(self) -> JudgedOptions:
        if not self.file:
            raise ValueError("name the text's `file`")
        if self.rubric and self.rubric_file:
            raise ValueError("give either a `rubric` or a `rubric_file`")
        if self.rubric_file and self.rubric_file == self.file:
            raise ValueError("the `rubric_file` and the `file` cannot be the same")
        return self


class ScoreOptions(JudgedOptions):
    """Options of the goal `score`, which has no rubric of its own."""

    @model_validator(mode="after")
    def _a_rubric(self) -> ScoreOptions:
        if not self.rubric.strip() and not self.rubric_file:
            raise ValueError("say what counts: give a `rubric` or a `rubric_file`")
        return self


class CreativeOptions(JudgedOptions):
    """Options of the goal `creative`."""

    @model_validator(mode="after")
    def _a_brief(self) -> CreativeOptions:
        if not self.brief.strip():
            raise ValueError("say what is to be written: give a `brief`")
        return self
