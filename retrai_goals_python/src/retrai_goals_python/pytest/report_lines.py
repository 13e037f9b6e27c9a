"""Reads the lines that the reporter wrote inside the project's pytest."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Explanation(_Line):
    """Why a case failed, as pytest explains it; where, and with which exception, if it says so."""

    text: str = ""
    path: str = ""
    line: int = 0
    message: str = ""


class Begin(_Line):
    """Every plugin is imported; no conftest.py yet."""

    kind: Literal["begin"]
    pytest: str
    plugins: list[str] = []
    """Distributions of the plugins, as they are named."""


class Collected(_Line):
    """What is about to be run; under xdist once for every worker."""

    kind: Literal["collected"]
    ids: list[str]


class Start(_Line):
    """A test begins."""

    kind: Literal["start"]
    id: str


class Phase(_Line):
    """The set-up, call or tear-down of a test has ended.

    Or, as `collection`, a file or class was skipped or failed when it was collected.
    """

    kind: Literal["phase"]
    id: str
    when: str
    outcome: str
    is_xfail: bool = False
    subtest: str = ""
    why: Explanation = Explanation()
    sections: list[tuple[str, str]] = []


class Calls(_Line):
    """What the project's code answered one test.

    Each call has its text, its answer, and what makes it again. There are none where the test could
    not be followed. `compared` are two values that the test expected to be equal, and the
    operator of another comparison. `parameters` are literals, or empty texts where a value is none.
    `patches` are attributes of other modules that hold code of the project, each with its file and
    line.
    """

    kind: Literal["calls"]
    id: str
    calls: list[tuple[str, str, str]] | None
    compared: list[str]
    asserted: bool
    """Whether it passed, or failed by an assertion."""
    fixtures: list[str]
    parameters: dict[str, str]
    patches: list[tuple[str, str, int]]
    paths: list[str]


class Ended(_Line):
    """pytest stops early.

    A conftest.py could not be imported; Ctrl-C or `pytest.exit`; pytest or a plugin raised.
    """

    kind: Literal["stopped", "interrupted", "internal_error"]
    text: str


class Finish(_Line):
    """The session has ended.

    Attributes:
        deselected: how many cases were left out on purpose.
        imported: files of the project, or of its copy, that its processes had imported.
    """

    kind: Literal["finish"]
    exit_status: int
    deselected: int = 0
    imported: list[str] = []


Line = Begin | Collected | Start | Phase | Calls | Ended | Finish
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
