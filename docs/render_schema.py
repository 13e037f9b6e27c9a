"""Writes the JSON schemas of what retrai leaves for other programs: `python docs/render_schema.py`.

`run-record.schema.json` is `run.json` and what `--json` prints; `receipt.schema.json` is the part
`receipt` of `receipt.json`.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from retrai_core.contracts.record import (
    CheckEvidence,
    GoalRecord,
    HandOver,
    HeldOutCounts,
    Limits,
    NeededLimit,
    RunRecord,
    Tokens,
)
from retrai_receipts.receipt import HeldOutCases, Receipt, SandboxUsed, Tampering, Trees

HERE = Path(__file__).parent
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMAS: dict[str, list[type[BaseModel]]] = {
    "run-record.schema.json": [
        RunRecord,
        CheckEvidence,
        GoalRecord,
        HandOver,
        HeldOutCounts,
        Limits,
        NeededLimit,
        Tokens,
    ],
    "receipt.schema.json": [Receipt, HeldOutCases, SandboxUsed, Tampering, Trees],
}
"""For each file the model, and those that stand in it."""


def render(models: list[type[BaseModel]]) -> str:
    """The schema's text."""
    schema = models[0].model_json_schema(mode="serialization")
    for model in models:
        part = schema if model is models[0] else schema["$defs"][model.__name__]
        _describe(part, model)
    return json.dumps({"$schema": DIALECT, **schema}, indent=2) + "\n"


def _describe(part: dict[str, Any], model: type[BaseModel]) -> None:
    """Give every field its line of description; fields with a default are written too."""
    said = _docstrings(model)
    for name, field in part["properties"].items():
        if name in said:
            field["description"] = said[name]
    part["required"] = list(part["properties"])
    # A reader must pass over what a later retrai adds.
    part["additionalProperties"] = True


def _docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The text below each field of a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    assert isinstance(body, ast.ClassDef)
    said: dict[str, str] = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        named = isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if named and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            said[field.target.id] = " ".join(str(below.value.value).split())
    return said


def main() -> None:
    """Write every schema."""
    for name, models in SCHEMAS.items():
        (HERE / name).write_text(render(models), encoding="utf-8")


if __name__ == "__main__":
    main()
