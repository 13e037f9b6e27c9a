"""`js_exec` with the real bun and node."""

from __future__ import annotations

from typing import Any

import pytest

from retrai_core import ToolError
from retrai_goals_js.js_exec_tool import JsExec

from ..goal_bench import Bench
from .conftest import JS, needs_bun, needs_npm


async def run(bench: Bench, code: str, **args: Any) -> Any:
    tool = JsExec(JsExec.Options(), bench.context)
    return await tool.run(JsExec.Args(code=code, **args), bench.context)


@pytest.fixture
def without_bun(monkeypatch: pytest.MonkeyPatch, bench: Bench) -> None:
    import os

    kept = [
        part
        for part in os.environ["PATH"].split(os.pathsep)
        if part != str(JS / "bin") and not os.path.exists(os.path.join(part, "bun"))
    ]
    monkeypatch.setenv("PATH", os.pathsep.join(kept))
    monkeypatch.setenv("BUN_INSTALL", str(bench.project))


@needs_bun
async def test_typescript_imports_the_projects_modules(bench: Bench) -> None:
    bench.write({"src/two.ts": "export const two: number = 2;\n"})
    code = 'import { two } from "./src/two";\nconst x: number = two + 1;\nconsole.log({ x });'
    result = await run(bench, code)
    assert result.ok, result.content
    assert "x: 3" in result.content


@needs_npm
@pytest.mark.usefixtures("without_bun")
@pytest.mark.parametrize(
    "code",
    [
        'import { two } from "./two.mjs";\nconsole.log(two + 1);',
        'const x = await import("./two.mjs");\nconsole.log(x.two + 1);',
        'import("./two.mjs").then((x) => console.log(x.two + 1));',
    ],
)
async def test_without_bun_node_runs_javascript(bench: Bench, code: str) -> None:
    bench.write({"two.mjs": "export const two = 2;\n"})
    result = await run(bench, code)
    assert result.content == "3"
    assert result.data["program"].endswith("node")


@needs_npm
async def test_an_error_is_an_answer(bench: Bench) -> None:
    result = await run(bench, 'throw new Error("boom");')
    assert not result.ok
    assert "boom" in result.content
    assert "[exit status 1]" in result.content


@needs_npm
async def test_what_never_ends_is_ended(bench: Bench) -> None:
    result = await run(bench, "while (true) {}", timeout_s=1)
    assert not result.ok
    assert "ended after 1 s" in result.content


@needs_npm
async def test_a_flood_is_cut(bench: Bench) -> None:
    result = await run(bench, 'for (let i = 0; i < 100000; i++) console.log("line", i);')
    assert len(result.content) <= 8000
    assert "left out" in result.content


async def test_with_neither_program_it_says_what_to_install(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(bench.project))
    monkeypatch.setenv("BUN_INSTALL", str(bench.project))
    with pytest.raises(ToolError, match="neither bun nor node"):
        await run(bench, "1")
