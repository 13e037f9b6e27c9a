"""The agent's options and input."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from retrai_core import AgentOptions

from .prompts import PromptFiles


class ResearchOptions(AgentOptions):
    """How the agent researches."""

    max_executor_steps: int = Field(default=5, ge=1, le=1000)
    """Maximum model calls of one step of the plan."""
    replan: Literal["when_done", "each_step"] = "when_done"
    """When the planner is asked again: when all steps are done, or after each step."""
    findings_chars: int = Field(default=60_000, ge=1000)
    """Maximum characters of the findings in one prompt."""
    prompts: PromptFiles = Field(default_factory=PromptFiles)
    """Files that replace prompts."""


class ResearchInput(BaseModel):
    """What the agent is given."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(
        description="The question. `@path` shows a file or folder to the planner."
    )

    @field_validator("question")
    @classmethod
    def _has_words(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("the question is empty")
        return value.strip()
