"""Reads mini-swe-agent's `.traj.json`: chat messages whose assistant turns run shell commands.

Format 1.1 has tool calls; before that, and for models without tool calls, an answer holds exactly
one fenced `bash` (or `mswea_bash_command`) block, and any other number of blocks was refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from .recording import Decision, MalformedCall, NotARecordingError, RecordedCall, Recording

SHELL_TOOL = "bash"
JSON_OBJECT = TypeAdapter(dict[str, JsonValue])
SUBMIT = re.compile(
    r"\s*echo\s+[\"']?(?:COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT|MINI_SWE_AGENT_FINAL_OUTPUT)\b"
)
FENCED = re.compile(r"```(?:bash|mswea_bash_command)[ \t]*\n(.*?)\n```", re.DOTALL)


class RecordedFunction(BaseModel):
    name: str
    arguments: str | dict[str, JsonValue] = "{}"


class RecordedToolCall(BaseModel):
    function: RecordedFunction


class TextPart(BaseModel):
    text: str = ""


class Message(BaseModel):
    role: str
    content: str | list[TextPart] | None = None
    tool_calls: list[RecordedToolCall] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text)
        return self.content or ""


class Environment(BaseModel):
    cwd: str = ""


class Config(BaseModel):
    environment: Environment = Environment()


class Info(BaseModel):
    config: Config = Config()


class Trajectory(BaseModel):
    messages: list[Message]
    info: Info = Info()


def read_trajectory(raw: Mapping[str, JsonValue]) -> Recording:
    """The decisions in a trajectory.

    Args:
        raw: the file's JSON object.

    Raises:
        NotARecordingError: it has no list of chat messages.
    """
    try:
        trajectory = Trajectory.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise NotARecordingError(f"{where}: {first['msg']}") from error
    decisions: list[Decision] = []
    submitted = False
    for message in trajectory.messages:
        if message.role != "assistant":
            continue
        decision, submitted = without_submission(parse_message(message))
        decisions.append(decision)
        if submitted:
            break
    cwd = trajectory.info.config.environment.cwd
    return Recording(
        decisions=tuple(decisions),
        project_paths=(cwd,) if cwd.startswith("/") else (),
        submitted=submitted,
    )


def parse_message(message: Message) -> Decision:
    if not message.tool_calls:
        return parse_fenced(message.text)
    calls: list[RecordedCall] = []
    malformed: list[MalformedCall] = []
    for call in message.tool_calls:
        args = parse_arguments(call.function.arguments)
        if args is None:
            raw = str(call.function.arguments)
            malformed.append(MalformedCall(name=call.function.name, raw_args=raw))
        else:
            calls.append(RecordedCall(name=call.function.name, args=args))
    return Decision(text=message.text, calls=tuple(calls), malformed=tuple(malformed))


def parse_arguments(arguments: str | dict[str, JsonValue]) -> dict[str, JsonValue] | None:
    """The arguments as an object; None when they are not one."""
    if isinstance(arguments, dict):
        return arguments
    try:
        return JSON_OBJECT.validate_json(arguments or "{}")
    except ValidationError:
        return None


def parse_fenced(text: str) -> Decision:
    blocks = FENCED.findall(text)
    if len(blocks) != 1:
        return Decision(text=text)
    command = blocks[0].strip()
    return Decision(
        text=FENCED.sub("", text).strip(),
        calls=(RecordedCall(name=SHELL_TOOL, args={"command": command}),),
    )


def without_submission(decision: Decision) -> tuple[Decision, bool]:
    """The decision without the call that hands in the work, and whether there was one.

    mini-swe-agent ends a run at such a call, so calls after it in the same answer never ran.
    """
    for index, call in enumerate(decision.calls):
        command = call.args.get("command")
        if isinstance(command, str) and SUBMIT.match(command):
            return decision.model_copy(update={"calls": decision.calls[:index]}), True
    return decision, False
