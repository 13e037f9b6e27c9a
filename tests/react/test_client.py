"""docs/react.md: its client runs to the end, and the routes are described."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from retrai_react.options import ReactOptions

from ..server.fuzzing import fuzz
from .wire import KEY, Request, Sent, Service

PAGE = (Path(__file__).parents[2] / "docs" / "react.md").read_text(encoding="utf-8")
OURS = re.compile(r"/api/(agent/|context/|projects/\{project_id\}/pins)")


def client() -> str:
    """The client of the page."""
    (source,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return source


def test_the_client_runs_to_the_end(react: Service, tmp_path: Path) -> None:
    def answer(request: Request) -> str:
        said = request.messages[-1]["content"]
        if "cents / 100" in said:
            return "Thought: I have seen it\nAnswer: price() divides by 100."
        if "shop.py" in said:
            return 'Thought: read it\nAction: read_file(path="shop.py")'
        if "FileNotFoundError" in said:
            return "Thought: which files are there?\nAction: list_files()"
        return 'Thought: a guess\nAction: read_file("prices.py")'

    react.model.decides(answer)
    program = tmp_path / "client.py"
    program.write_text(client())
    address = next(line for line in react.served.said if "token=" in line)
    words = [address, str(react.folder), "openai/gpt-4o", KEY, "Where is the price computed?"]
    done = subprocess.run(
        [sys.executable, program, *words], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        '-> read_file("prices.py")',
        "-> list_files()",
        '-> read_file(path="shop.py")',
        "price() divides by 100.",
    ]


def test_the_client_has_about_60_lines() -> None:
    lines = [line for line in client().splitlines() if line.strip()]
    assert len(lines) <= 62


def test_the_page_has_every_option_field_and_code(react: Service) -> None:
    schemas = react.http.get("/api/openapi.json").json()["components"]["schemas"]
    names = [*ReactOptions.model_fields]
    for each in ("StepRequest", "StepResponse", "LlmConfig"):
        names += schemas[each]["properties"]
    sources = Path(sys.modules[ReactOptions.__module__].__file__ or "").parent.glob("*.py")
    for each in sources:
        names += re.findall(r'"((?:MODEL|TOKEN|REACT)_[A-Z_]+)"', each.read_text())
    assert [name for name in names if name not in PAGE] == []


def test_nothing_that_the_document_allows_makes_it_fail(react: Service) -> None:
    """Every route, with values that fit the document and values that do not."""
    react.model.plays(Sent("Answer: a"))
    document = react.http.get("/api/openapi.json").json()
    for path in list(document["paths"]):
        if not OURS.match(path):
            del document["paths"][path]
    assert len(document["paths"]) == 4

    def as_it_is(case: Any) -> None:
        if "project_id" in case.path_parameters and len(case.path_parameters["project_id"]) % 2:
            case.path_parameters["project_id"] = react.project
        if isinstance(case.body, dict) and isinstance(case.body.get("llm_config"), dict):
            config = case.body["llm_config"]
            if len(str(config.get("modelName"))) % 2:
                config["modelName"] = "openai/gpt-4o"

    statuses = fuzz(react.served, document, as_it_is, max_examples=25)
    assert statuses >= {200, 201, 400, 404}
