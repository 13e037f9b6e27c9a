"""Reads the lines that the reporter wrote inside the project's pytest."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError


def _printable(value: object) -> object:
    """Lone surrogates (undecodable bytes in a path) would break whoever writes the text on."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


Text = Annotated[str, BeforeValidator(_printable)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class TraceEntry(_Line):
    """One step of a traceback: where, and the lines pytest shows for it."""

    path: Text = ""
    line: int = 0
    where: Text = ""
    lines: Text = ""


class TraceLink(_Line):
    """One exception of a chain; `after` is the sentence that leads to the next."""

    entries: list[TraceEntry] = []
    after: Text = ""


class Explanation(_Line):
    """Why a case was not passed, as pytest explains it."""

    path: Text = ""
    line: int = 0
    message: Text = ""
    text: Text = ""
    chain: list[TraceLink] = []


class Begin(_Line):
    """Every plugin is imported; no conftest.py yet."""

    kind: Literal["begin"]
    pytest: Text
    plugins: list[Text] = []
    """Distributions of the plugins, as they are named."""


class Stopped(_Line):
    """A conftest.py could not be imported."""

    kind: Literal["stopped"]
    path: Text
    text: Text


class Collected(_Line):
    """What is about to be run; under xdist once for every worker."""

    kind: Literal["collected"]
    ids: list[Text]


class Deselected(_Line):
    """Cases that were left out on purpose."""

    kind: Literal["deselected"]
    count: int


class Collect(_Line):
    """A file or class that was skipped or failed when it was collected."""

    kind: Literal["collect"]
    id: Text
    outcome: Text
    why: Explanation = Explanation()


class Start(_Line):
    """A test begins."""

    kind: Literal["start"]
    id: Text


class Phase(_Line):
    """The set-up, call or tear-down of a test has ended."""

    kind: Literal["phase"]
    id: Text
    when: Text
    outcome: Text
    is_xfail: bool = False
    subtest: Text = ""
    why: Explanation = Explanation()
    sections: list[tuple[Text, Text]] = []


class Calls(_Line):
    """What the project's code answered one test.

    Each call has its text, its answer, and what makes it again. There are none where the test could
    not be followed. `compared` are two values that the test expected to be equal, if it failed so.
    `parameters` are literals, or empty texts where a value is none. `patches` are attributes of
    other modules that hold code of the project, each with its file and line.
    """

    kind: Literal["calls"]
    id: Text
    calls: list[tuple[Text, Text, str]] | None
    compared: list[Text]
    asserted: bool
    """Whether it passed, or failed by an assertion."""
    fixtures: list[Text]
    parameters: dict[Text, Text]
    patches: list[tuple[Text, Text, int]]
    paths: list[Text]


class Imported(_Line):
    """Files of the project, or of its copy, that one process had imported when it ended."""

    kind: Literal["imported"]
    files: list[Text]


class Interrupted(_Line):
    """Ctrl-C or `pytest.exit`."""

    kind: Literal["interrupted"]
    text: Text


class InternalError(_Line):
    """pytest or one of its plugins raised."""

    kind: Literal["internal_error"]
    text: Text


class Finish(_Line):
    """The session has ended."""

    kind: Literal["finish"]
    exit_status: int


Line = (
    Begin
    | Stopped
    | Collected
    | Deselected
    | Collect
    | Start
    | Phase
    | Calls
    | Imported
    | Interrupted
    | InternalError
    | Finish
)
_ADAPTER: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="kind")])


def read_lines(data: bytes) -> tuple[list[Line], int]:
    """The report's lines, and how many could not be read.

    A last line without its end was cut off by the death of the process and is left out.
    """
    lines: list[Line] = []
    damaged = 0
    for raw in data.split(b"\n")[:-1]:
        try:
            lines.append(_ADAPTER.validate_json(raw))
        except ValidationError:
            damaged += 1
    return lines, damaged
