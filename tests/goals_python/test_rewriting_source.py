"""Source that rewrites the tests while they run is not believed."""

from __future__ import annotations

import sys
from pathlib import Path

from retrai_core import ProcessOptions, RunContext
from retrai_core.verification.final_check import final_check
from retrai_core.verification.guard import Guard
from retrai_core.verification.guarded_sandbox import guarded_sandbox
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_goals_python.pytest.goal import PytestGoal, PytestGoalOptions
from retrai_sandbox_local.sandbox import LocalSandbox

REWRITING = """
from pathlib import Path
tests = Path(__file__).parent / ("te" + "sts") / ("test" + "_m.py")
tests.write_text("def test_add():\\n    pass\\n")
"""


async def test_source_that_rewrites_a_test_file_is_suspect(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "tests").mkdir(parents=True)
    (project / "conftest.py").write_text("import m\n")
    (project / "m.py").write_text("def add(a, b):\n    return a - b\n")
    tests = "from m import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"
    (project / "tests" / "test_m.py").write_text(tests)
    (tmp_path / "run").mkdir()
    context = RunContext("r1", project, SafeWorkspace(project), sys.executable, tmp_path / "run")
    context.sandbox_part = guarded_sandbox(LocalSandbox(ProcessOptions(), context))
    context.goal_part = PytestGoal(PytestGoalOptions(), context)
    guard = Guard(context, [])
    try:
        assert not (await guard.take_baseline()).achieved
        (project / "m.py").write_text(REWRITING)
        result, suspect = await final_check(guard, {})
    finally:
        await context.sandbox.aclose()
    assert result.achieved
    assert suspect == "tests/test_m.py was changed while the check ran"
