"""The provider of the model `replay:FILE`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, ValidationError, field_validator

from retrai_core import LLMOptions, LLMProvider, RunContext, UsageError

from .path_prefix import PathPrefix
from .reading import EXPECTED, find_file, read_recording
from .recording import RecordedCall, Recording

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

PREFIX = "replay:"
DEFAULT_TOOL_NAMES = {"bash": "bash_exec"}
DEFAULT_PATH_PREFIX = "/testbed"
KEPT_NAME = "replay.json"


class ReplayOptions(LLMOptions):
    """How a recorded run is fitted to this one."""

    tool_names: dict[str, str] = Field(default_factory=lambda: dict(DEFAULT_TOOL_NAMES))
    """Tool names of this run by recorded name; added to `bash: bash_exec`."""

    argument_names: dict[str, dict[str, str]] = Field(default_factory=dict)
    """By tool name in this run: argument names of this run by recorded name."""

    path_prefixes: list[str] | None = None
    """Absolute paths that stand for the project. Default: those of the record, else `/testbed`."""

    shell_tools: list[str] = Field(default_factory=lambda: ["bash_exec"])
    """Tools whose arguments are shell lines, by name in this run."""

    on_end: Literal["say", "error"] = "say"
    """At the end of the record: `say` so without a tool call, or end the run with an `error`."""

    @field_validator("path_prefixes")
    @classmethod
    def are_absolute(cls, prefixes: list[str] | None) -> list[str] | None:
        for prefix in prefixes or ():
            if not prefix.startswith("/") or not prefix.strip("/"):
                raise ValueError(f"{prefix!r} is not an absolute path below /")
        return prefixes


class ReplayProvider(LLMProvider[ReplayOptions]):
    """Makes a chat model of a recorded run.

    Example:
        >>> ReplayProvider(ReplayOptions(), context=None).ready("replay:")
        'replay: no file is named (write replay:FILE)'
    """

    name: ClassVar[str] = "replay"
    summary: ClassVar[str] = "replays the decisions of a recorded run"
    needs: ClassVar[frozenset[str]] = frozenset({"read"})
    model_patterns = ("replay:*",)
    per_run: ClassVar[bool] = True

    def create(
        self, model: str, temperature: float, context: RunContext, api_key: str | None = None
    ) -> BaseChatModel:
        """The model of the record that `model` names; what else is given means nothing to it.

        Raises:
            UsageError: the file is missing or is no recorded run.
        """
        # langchain-core is slow to import, and `ready` must be cheap.
        from .model import ReplayModel

        options = self.options
        recording = self.load(model, context)
        for warning in recording.warnings:
            context.publish("log", level="warning", message=f"replay: {warning}")
        prefixes = options.path_prefixes or recording.project_paths or (DEFAULT_PATH_PREFIX,)
        paths = PathPrefix(tuple(prefixes), context.project)

        def translate(call: RecordedCall) -> RecordedCall:
            return translate_call(call, options, paths)

        return ReplayModel(
            decisions=recording.decisions,
            translate=translate,
            source=file_name(model),
            submitted=recording.submitted,
            end_is_error=options.on_end == "error",
        )

    def ready(self, model: str) -> str | None:
        """Whether the record is there and can be read; said before the run's first check."""
        name = file_name(model)
        if not name:
            return "replay: no file is named (write replay:FILE)"
        if self.context and (self.context.run_dir / KEPT_NAME).is_file():
            return None
        project = self.context.project if self.context else Path.cwd()
        path = find_file(name, project)
        if path is None:
            return missing(name, project)
        try:
            read_recording(path)
        except UsageError as error:
            return str(error)
        return None

    def load(self, model: str, context: RunContext) -> Recording:
        """The record: as this run kept it, else from the file.

        A resumed run must go on in the record it began with, also when it is resumed from another
        folder or the file has changed; so what was read is kept in the run's own folder.
        """
        kept = context.run_dir / KEPT_NAME
        if kept.is_file():
            try:
                return Recording.model_validate_json(kept.read_bytes())
            except ValidationError as error:
                raise UsageError(
                    f"replay: {kept} is damaged", hint="delete it to read the record again"
                ) from error
        name = file_name(model)
        path = find_file(name, context.project)
        if path is None:
            raise UsageError(missing(name, context.project), hint=EXPECTED)
        recording = read_recording(path)
        kept.parent.mkdir(parents=True, exist_ok=True)
        half_written = kept.with_suffix(".tmp")
        half_written.write_text(recording.model_dump_json(), encoding="utf-8")
        half_written.replace(kept)
        return recording

    def cost_usd(self, model: str, usage: Mapping[str, Any]) -> float | None:
        """Nothing: a replay asks nobody."""
        return 0.0


def file_name(model: str) -> str:
    return model.removeprefix(PREFIX).strip()


def missing(name: str, project: Path) -> str:
    places = "" if Path(name).expanduser().is_absolute() else f" in {Path.cwd()}"
    if places and project != Path.cwd():
        places += f" or {project}"
    return f"replay: there is no file {name}{places}"


def translate_call(call: RecordedCall, options: ReplayOptions, paths: PathPrefix) -> RecordedCall:
    """The recorded call with this run's tool name, argument names and paths."""
    tool = {**DEFAULT_TOOL_NAMES, **options.tool_names}.get(call.name, call.name)
    names = options.argument_names.get(tool, {})
    args = paths.in_arguments(call.args, shell=tool in options.shell_tools)
    return RecordedCall(name=tool, args={names.get(key, key): value for key, value in args.items()})
