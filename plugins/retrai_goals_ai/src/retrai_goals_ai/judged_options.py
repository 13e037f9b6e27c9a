"""What the goals with a judge are told."""

from __future__ import annotations

from pydantic import Field, model_validator

from retrai_core import GoalOptions
from retrai_goal_support import ProjectFile

from .judgement import HIGHEST, LOWEST


class JudgedOptions(GoalOptions):
    """Options of the goals whose text a judge scores."""

    file: ProjectFile = Field(json_schema_extra={"loosens": True})
    """File with the text, relative to the project."""
    target_score: float = Field(
        default=8.0, ge=LOWEST, le=HIGHEST, json_schema_extra={"loosens": True}
    )
    """Score, from 1 to 10, that achieves the goal."""
    judge_model: str = Field(default="", json_schema_extra={"loosens": True})
    """Model that judges: any model of an installed provider. Default: the model of the run."""
    rubric: str = Field(default="", json_schema_extra={"loosens": True})
    """Criteria of the score, in words. The author of the text sees them too."""
    rubric_file: ProjectFile = Field(default="", json_schema_extra={"loosens": True})
    """File of the project with the rubric; it is protected."""
    brief: str = Field(default="", json_schema_extra={"loosens": True})
    """Purpose and audience of the text."""
    timeout_s: float = Field(default=120.0, gt=0, le=3600, json_schema_extra={"loosens": False})
    """Maximum seconds for one judgement."""
    max_chars: int = Field(
        default=60_000, ge=100, le=1_000_000, json_schema_extra={"loosens": True}
    )
    """Maximum length of the text, in characters."""

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
