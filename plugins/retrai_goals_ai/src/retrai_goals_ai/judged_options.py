"""What the goals with a judge are told."""

from __future__ import annotations

from typing import cast

from pydantic import Field, field_validator, model_validator

from retrai_core import GoalOptions
from retrai_goal_support import ProjectFile

from .judgement import HIGHEST


class JudgedOptions(GoalOptions):
    """Options of the goals whose text a judge scores."""

    file: ProjectFile = Field(
        default="output.md", json_schema_extra={"loosens": True, "aliases": ["output_file"]}
    )
    """File with the text, relative to the project."""
    input_file: ProjectFile = Field(default="", json_schema_extra={"loosens": True})
    """File of the project that the text is made from. The judge sees it; it is protected."""
    target_score: float = Field(default=8.0, ge=0, le=HIGHEST, json_schema_extra={"loosens": True})
    """Score, of 10, that achieves the goal. The judge gives 1 to 10."""
    judge_model: str = Field(default="", json_schema_extra={"loosens": True})
    """Model that judges: any model of an installed provider. Default: the model of the run."""
    rubric: str = Field(default="", json_schema_extra={"loosens": True, "aliases": ["criteria"]})
    """Criteria of the score, in words; a list gives one criterion each. The author of the text
    sees them too."""
    rubric_file: ProjectFile = Field(default="", json_schema_extra={"loosens": True})
    """File of the project with the rubric; it is protected."""
    brief: str = Field(
        default="", json_schema_extra={"loosens": True, "aliases": ["task", "prompt"]}
    )
    """Purpose and audience of the text."""
    timeout_s: float = Field(default=120.0, gt=0, le=3600, json_schema_extra={"loosens": False})
    """Maximum seconds for one judgement."""
    max_chars: int = Field(
        default=60_000, ge=100, le=1_000_000, json_schema_extra={"loosens": True}
    )
    """Maximum length of the text, in characters."""

    @field_validator("rubric", mode="before")
    @classmethod
    def _a_list_of_criteria(cls, value: object) -> object:
        if not isinstance(value, list):
            return value
        criteria = cast("list[object]", value)
        if not all(isinstance(criterion, str) for criterion in criteria):
            raise ValueError("must be a text or a list of texts")
        return "\n".join(f"- {criterion}" for criterion in criteria)

    @model_validator(mode="after")
    def _one_rubric(self) -> JudgedOptions:
        if not self.file:
            raise ValueError("name the text's `file`")
        if self.rubric and self.rubric_file:
            raise ValueError("give either a `rubric` or a `rubric_file`")
        if self.rubric_file and self.rubric_file == self.file:
            raise ValueError("the `rubric_file` and the `file` cannot be the same")
        return self

    @property
    def source(self) -> str:
        """The file that the text is made from; empty where there is none, or it is the text."""
        return self.input_file if self.input_file != self.file else ""


class ScoreOptions(JudgedOptions):
    """Options of the goal `score`, which has no rubric of its own."""

    @model_validator(mode="after")
    def _a_rubric(self) -> ScoreOptions:
        if not (self.rubric.strip() or self.rubric_file or self.brief.strip()):
            raise ValueError("say what counts: give a `rubric`, a `rubric_file` or a `brief`")
        return self


class TextImproveOptions(JudgedOptions):
    """Options of the goal `text-improve`."""

    file: ProjectFile = Field(
        default="", json_schema_extra={"loosens": True, "aliases": ["output_file"]}
    )
    """File with the text, relative to the project. Default: `input_file`, which is rewritten."""

    @model_validator(mode="before")
    @classmethod
    def _rewritten_in_place(cls, values: object) -> object:
        if not isinstance(values, dict):
            return values
        given = cast("dict[str, object]", values)
        return given if given.get("file") else {**given, "file": given.get("input_file", "")}


class CreativeOptions(JudgedOptions):
    """Options of the goal `creative`."""

    style: str = Field(default="", json_schema_extra={"loosens": True})
    """Style of the text, such as a form, a voice or an author to learn from."""
    max_words: int | None = Field(default=None, ge=1, json_schema_extra={"loosens": True})
    """Maximum number of words; a longer text fails the check."""

    @model_validator(mode="after")
    def _a_brief(self) -> CreativeOptions:
        if not self.brief.strip():
            raise ValueError("say what is to be written: give a `brief`")
        return self
