"""What clients send and get, for validation and for the OpenAPI document.

The names are those of the original service, camelCase among them.
"""

from __future__ import annotations

import uuid
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, StringConstraints

PROJECT = "3f2b8f5e-7a43-5d0e-9c65-2f0b6f0a2c11"
SESSION = "0b7a5f0e-3a1c-4d39-8f0c-6a8a4a1f2d10"
PIN = "5d0b9a52-4a3e-4b57-9d5d-0f5f3a1b7c11"

Words = Annotated[str, StringConstraints(max_length=8_000_000)]
PathText = Annotated[str, StringConstraints(max_length=4_096)]


def _sendable(key: SecretStr) -> SecretStr:
    """A key that can stand in a header."""
    text = key.get_secret_value()
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("a key has printable ASCII characters, and no blanks")
    return key


Key = Annotated[SecretStr, Field(min_length=1, max_length=8_192), AfterValidator(_sendable)]
Status = Literal["action_proposed", "direct_response_provided", "error"]


class _Model(BaseModel):
    model_config = ConfigDict(
        use_attribute_docstrings=True, hide_input_in_errors=True, populate_by_name=True
    )


class ToolCall(_Model):
    """What an assistant's turn asks for."""

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class ToolResult(_Model):
    """What a tool gave."""

    success: bool
    result: Any = None


class Turn(_Model):
    """One turn of the conversation."""

    role: Literal["user", "assistant", "tool_observation"]
    content: Words
    timestamp: str | int | float | None = None
    """When it was; kept as it is."""
    tool_call: ToolCall | None = Field(default=None, alias="toolCall")
    """An assistant's action."""
    tool_result: ToolResult | None = Field(default=None, alias="toolResult")
    """What the action gave, with an observation."""


class ImplicitContext(_Model):
    """What the user looks at."""

    last_focused_file_path: PathText | None = None


class VectorResult(_Model):
    """A piece of the project that a search has found."""

    model_config = ConfigDict(extra="allow")

    path: PathText | None = None
    """The file; `filePath` and `file_path` are read too."""
    content: Words | None = None
    """The text; `text` and `snippet` are read too."""
    score: float | None = None
    """Where all results have one, the highest comes first."""


class LlmConfig(_Model):
    """The model, for this request alone."""

    model_name: Annotated[str, StringConstraints(min_length=1, max_length=256)] = Field(
        alias="modelName"
    )
    """The model's name, as `PROVIDER/MODEL`."""
    token_limit: int = Field(alias="tokenLimit", gt=0)
    """The tokens of the model's context window, or fewer."""
    reserved_output_tokens: int = Field(alias="reservedOutputTokens", gt=0)
    """So many of them are left for the answer, which is no longer than that."""
    temperature: float = Field(default=0.0, ge=0, le=2)
    """The temperature."""
    vector_search: bool = False
    """Search the project where the request brings no results (needs retrai-codeindex)."""


class UserApiKeys(_Model):
    """The caller's own keys."""

    llm_key: Key = Field(alias="llmKey")
    """Used for the calls of this step, and forgotten."""


_STEP_EXAMPLE: dict[str, Any] = {
    "project_id": PROJECT,
    "session_id": SESSION,
    "user_query": "Where is the price computed?",
    "conversation_history": [],
    "available_tools_prompt_segment": "read_file(path): the text of a file",
    "llm_config": {
        "modelName": "openai/gpt-4o",
        "tokenLimit": 16000,
        "reservedOutputTokens": 2000,
        "temperature": 0,
    },
    "user_api_keys": {"llmKey": "YOUR-KEY"},
    "max_iterations_left": 5,
}


class StepRequest(_Model):
    """One step. Unknown fields are ignored."""

    model_config = ConfigDict(json_schema_extra={"examples": [_STEP_EXAMPLE]})

    project_id: uuid.UUID
    """The server's project, see `GET /api/projects`."""
    session_id: uuid.UUID
    """The client's conversation; it comes back."""
    user_query: Words
    """What the user asks; empty for a step after an observation."""
    conversation_history: list[Turn]
    """All turns so far, the oldest first."""
    explicit_context_paths: list[PathText] = Field(default_factory=list[str])
    """Files and folders of the project that the model shall read."""
    pinned_item_ids_to_include: list[PathText] = Field(default_factory=list[str])
    """Pinned items that the model shall read."""
    implicit_context: ImplicitContext | None = None
    """Read where there is no explicit context."""
    vector_search_results_to_include: list[VectorResult | Words] = Field(
        default_factory=list[VectorResult | str]
    )
    """What a search has found; the first ten are read."""
    available_tools_prompt_segment: Words
    """The tools in words, for the prompt."""
    llm_config: LlmConfig
    user_api_keys: UserApiKeys
    max_iterations_left: int = Field(ge=0)
    """At 0 the step asks for an answer and proposes no action."""


class ActionDetails(_Model):
    """The action that the client shall execute."""

    tool_name: str
    tool_args: dict[str, Any]
    raw_action_string: str


class StepError(_Model):
    """Why there is no step."""

    code: str
    message: str


class StepResponse(_Model):
    """The step."""

    session_id: uuid.UUID
    thought: str
    action_details: ActionDetails | None
    direct_response: str | None
    updated_conversation_history: list[dict[str, Any]]
    """The history with the turns of this step: send it back with the observation behind it."""
    iterations_remaining: int
    status: Status
    error: StepError | None = None
    """Present with the status `error`."""
    warnings: list[str] = Field(default_factory=list[str])
    """What was left out of the prompt."""


STEP_ANSWER: dict[str, Any] = {
    "session_id": SESSION,
    "thought": "The price is likely computed in shop.py.",
    "action_details": {
        "tool_name": "read_file",
        "tool_args": {"path": "shop.py"},
        "raw_action_string": 'read_file(path="shop.py")',
    },
    "direct_response": None,
    "updated_conversation_history": [
        {
            "role": "user",
            "content": "Where is the price computed?",
            "timestamp": "2026-01-01T12:00:00Z",
        },
        {
            "role": "assistant",
            "content": "The price is likely computed in shop.py.",
            "timestamp": "2026-01-01T12:00:02Z",
            "toolCall": {"name": "read_file", "parameters": {"path": "shop.py"}},
        },
    ],
    "iterations_remaining": 4,
    "status": "action_proposed",
    "warnings": [],
}


class NewPin(_Model):
    """What is pinned: `{"type": "text", "text": ...}` or `{"type": "file", "path": ...}`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"type": "file", "path": "shop.py", "start_line": 1, "end_line": 40},
                {"type": "text", "text": "Prices are in cents.", "title": "units"},
            ]
        }
    )

    type: Literal["text", "file"]
    text: Annotated[str, StringConstraints(max_length=200_000)] | None = None
    """The text of a snippet."""
    path: PathText | None = None
    """The file, in the project."""
    start_line: int = Field(default=1, ge=1, le=10_000_000)
    """The first line of the file that is read."""
    end_line: int | None = Field(default=None, ge=1, le=10_000_000)
    """The last one; the file's when left out."""
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    """Words for people and for the prompt."""


PIN_EXAMPLE: dict[str, Any] = {
    "id": PIN,
    "type": "file",
    "path": "shop.py",
    "start_line": 1,
    "end_line": 40,
    "title": "",
}


class CountTokens(_Model):
    """A text whose tokens are counted."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"text": "Where is the price computed?", "modelName": "openai/gpt-4o"}]
        }
    )

    text: Words
    model_name: Annotated[str, StringConstraints(max_length=256)] = Field(
        default="", alias="modelName"
    )
    """The model whose tokens are counted; an estimate for any when left out."""


COUNT_ANSWER: dict[str, Any] = {"token_count": 6, "is_exact": True, "method": "o200k_base"}
BAD_REQUEST: dict[str, Any] = {
    "error": "BadRequest",
    "message": "Invalid request format",
    "code": "INVALID_REQUEST_FORMAT",
    "details": {
        "formErrors": [],
        "fieldErrors": {"llm_config": ["tokenLimit: Input should be greater than 0"]},
    },
}
FAILED: dict[str, Any] = {
    "error": "InternalServerError",
    "message": "Failed to process ReAct step",
    "code": "REACT_STEP_FAILED",
}
LIMITED: dict[str, Any] = {
    "error": "TooManyRequests",
    "message": "a project may have 600 steps a minute",
    "code": "RATE_LIMITED",
    "details": None,
}
