"""The plugin's options."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ReactOptions(BaseModel):
    """Options of the step service, from `plugins: {react: {...}}` of the user's configuration."""

    model_config = ConfigDict(extra="forbid")

    models: list[str] = Field(default=["*"])
    """Models that callers may name, as globs: `openai/*`, `anthropic/claude-*`."""
    steps_per_minute: int = Field(default=600, ge=1)
    """Maximum steps of one project within a minute; one more is answered with 429."""
    max_in_flight: int = Field(default=256, ge=1)
    """Maximum steps at the same time, of all projects; one more is answered with 429."""
    max_body_bytes: int = Field(default=8_000_000, ge=1_000)
    """Maximum size of a step's request, in bytes."""
    timeout_s: float = Field(default=300.0, gt=0)
    """Maximum seconds for the model's answer, retries included."""
