"""`retrai generate-eval`: a harness that fails on the project as it stands, or none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("retrai_goals_ai")
pytest.importorskip("retrai_llm_litellm")

from retrai_goals_ai.harness import HARNESS, seal_problem
from retrai_goals_ai.project_digest import project_digest
from retrai_goals_ai.writing_harness import NoHarnessError, write_harness
from retrai_testkit import FakeLLMServer, RetraiProject, Turn

from .conftest import Judge, recorded, say
from .test_ai_eval import RIGHT, TESTS, WRONG

GOOD = say(f"Here it is:\n```python\n{TESTS}```\nGood luck.")
PASSES = say("```python\ndef test_nothing():\n    from words import sort_words\n```")
BROKEN = say("```python\ndef test_it(:\n```")
NO_TESTS = say("```python\nx = 1\n```")
TOP_IMPORT = say("```python\nimport no_such_module\n\ndef test_it():\n    assert 1\n```")
SKIPS = say("```python\nimport pytest\n\ndef test_it():\n    pytest.skip('later')\n```")
WORDS_ONLY = say("I would rather not.")


@pytest.fixture
def writing(judge: Judge, goals: Any) -> Any:
    """Has the scripted model write a harness in a project that sorts nothing."""

    async def write(*turns: Turn) -> Any:
        from retrai_goals_ai.ai_eval_goal import AiEvalGoal

        answers = iter(turns)
        judge.answers = lambda question: next(answers)
        async with goals(AiEvalGoal) as goal:
            (goal.context.project / "words.py").write_text(WRONG)
            return await write_harness(
                goal.context,
                goal.context.chat_model(),
                "sort_words sorts by length",
                timeout_s=60,
                max_chars=20_000,
                tell=lambda message: None,
            )

    return write


async def test_a_harness_that_fails_now_is_written_with_its_hash(
    writing: Any, judge: Judge, tmp_path: Path
) -> None:
    written = await writing(GOOD)
    text = (tmp_path / "project" / HARNESS).read_text()
    assert text == written.text
    assert text.startswith("# Written by `retrai generate-eval`; sha256 of what follows: ")
    assert seal_problem(text) is None
    assert written.run.counts() == {"failed": 1, "passed": 1}
    assert "sort_words sorts by length" in judge.questions[0]
    assert WRONG in judge.questions[0]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (PASSES, "it passes on the project as it stands"),
        (BROKEN, "it is no Python in line 1"),
        (NO_TESTS, "it has no test function"),
        (TOP_IMPORT, "import inside the tests"),
        (SKIPS, "every test must run"),
        (WORDS_ONLY, "the answer holds no Python block"),
    ],
    ids=["passes", "broken", "no-tests", "top-import", "skips", "words-only"],
)
async def test_a_harness_that_tests_nothing_is_asked_for_again(
    writing: Any, judge: Judge, bad: Turn, said: str
) -> None:
    written = await writing(bad, GOOD)
    assert written.attempts == 2
    assert said in str(judge.requests[-1][-1].content)


async def test_after_three_attempts_there_is_none_and_the_old_one_stays(
    writing: Any, judge: Judge, tmp_path: Path
) -> None:
    old = tmp_path / "project" / HARNESS
    with pytest.raises(NoHarnessError, match=r"1: it passes .*2: it is no Python.*3: the answer"):
        await writing(PASSES, BROKEN, WORDS_ONLY)
    assert len(judge.requests) == 3
    assert not old.exists()
    old.write_text("def test_old():\n    assert True\n")
    with pytest.raises(NoHarnessError):
        await writing(PASSES, PASSES, PASSES)
    assert old.read_text() == "def test_old():\n    assert True\n"


def test_the_project_is_shown_within_a_budget_the_relevant_first(tmp_path: Path) -> None:
    from retrai_core.workspace.safe_paths import SafeWorkspace

    for number in range(50):
        (tmp_path / f"other_{number}.py").write_text("x = 1  # nothing of note\n" * 100)
    (tmp_path / "invoices.py").write_text("def total(invoice):\n    return 0\n")
    (tmp_path / "README.md").write_text("# A shop\n")
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    shown = project_digest(SafeWorkspace(tmp_path), "the total of an invoice counts taxes", 6000)
    assert len(shown) <= 6000
    assert shown.index("=== README.md") < shown.index("=== invoices.py")
    assert "def total(invoice)" in shown


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLLMServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-the-loopback")
    with FakeLLMServer() as server:
        yield server


def test_from_the_description_to_the_achieved_goal(
    retrai_project: RetraiProject, writer: FakeLLMServer, tmp_path: Path
) -> None:
    """`generate-eval`, then `run ai-eval` with a model that tries the harness first."""
    writer.play(PASSES, GOOD)
    retrai_project.write({"words.py": WRONG})
    litellm = {"litellm": {"api_base": writer.base_url, "max_retries": 0}}
    retrai_project.configure(model="openai/writer", plugins=litellm)
    retrai_project.environment["RETRAI_TRUST"] = "1"
    made = retrai_project.command("generate-eval", "sort_words sorts by length", "--json")
    assert made.exit_code == 0, made.stderr
    told = json.loads(made.stdout)
    assert (told["path"], told["attempts"]) == (HARNESS, 2)
    assert "attempt 1 of 3: it passes on the project as it stands" in made.stderr
    again = retrai_project.command("generate-eval", "something else")
    assert again.exit_code == 2
    assert "there is a .retrai/eval_harness.py already" in again.stderr

    frozen = retrai_project.read(HARNESS)
    fixing = recorded(
        tmp_path / "fixing.jsonl",
        ("file_write", {"path": HARNESS, "content": "def test_it():\n    pass\n"}),
        ("bash_exec", {"command": f"echo 'def test_it(): pass' > {HARNESS}"}),
        ("file_write", {"path": "words.py", "content": RIGHT}),
    )
    run = retrai_project.run("ai-eval", model=fixing)
    assert (run.record.status, run.exit_code) == ("achieved", 0), run.stderr
    assert "may not be changed" in run.tool_results()[0]
    assert retrai_project.read(HARNESS) == frozen


def test_a_model_that_does_nothing_useful_fails(
    retrai_project: RetraiProject, tmp_path: Path
) -> None:
    from .test_ai_eval import lay_out

    lay_out(retrai_project.folder, WRONG)
    idle = recorded(tmp_path / "idle.jsonl", ("file_read", {"path": "words.py"}))
    run = retrai_project.run("ai-eval", model=idle, max_iterations=1)
    assert (run.record.status, run.exit_code) == ("failed", 1), run.stderr


def test_a_changed_harness_is_refused_until_it_is_sealed(
    retrai_project: RetraiProject, tmp_path: Path
) -> None:
    from .test_ai_eval import lay_out

    lay_out(retrai_project.folder, RIGHT)
    path = retrai_project.folder / HARNESS
    path.write_text(f"{path.read_text()}\n\ndef test_more():\n    assert True\n")
    idle = recorded(tmp_path / "idle.jsonl", ("file_read", {"path": "words.py"}))
    run = retrai_project.run("ai-eval", model=idle)
    assert run.exit_code == 2
    assert "retrai generate-eval --seal" in run.stderr
    assert retrai_project.command("generate-eval", "--seal").exit_code == 0
    assert retrai_project.run("ai-eval", model=idle).record.status == "achieved"


@pytest.mark.parametrize("line", [[], [""], ["--seal"]])
def test_a_command_line_that_cannot_be_met_is_a_usage_error(
    retrai_project: RetraiProject, line: list[str]
) -> None:
    done = retrai_project.command("generate-eval", *line)
    assert done.exit_code == 2
    assert "retrai generate-eval" in done.stderr


def test_the_embedded_model_is_not_asked_for_a_harness(retrai_project: RetraiProject) -> None:
    done = retrai_project.command("generate-eval", "it sorts", "-m", "offline")
    assert done.exit_code == 2
    assert "the model offline cannot write a harness" in done.stderr
    assert "-m MODEL" in done.stderr
    assert not (retrai_project.folder / HARNESS).exists()


def test_no_login_is_waited_for_where_nobody_sees_its_code(
    retrai_project: RetraiProject, tmp_path: Path
) -> None:
    pytest.importorskip("retrai_llm_litellm", reason="the plugin of the model is not installed")
    retrai_project.environment |= {
        "GITHUB_COPILOT_TOKEN_DIR": str(tmp_path / "tokens"),
        "GITHUB_COPILOT_DEVICE_CODE_URL": "http://127.0.0.1:9/login/device/code",
    }
    done = retrai_project.command("generate-eval", "it sorts", "-m", "github_copilot/gpt-4o")
    assert done.exit_code == 2
    assert "a login to GitHub Copilot is needed" in done.stderr
