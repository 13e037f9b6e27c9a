"""TAB completion reads manifests and imports no plugin."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def completed(*words: str) -> list[str]:
    """What bash is told after these words; the last one is incomplete."""
    done = subprocess.run(
        [sys.executable, "-c", "from retrai_core.cli.main import main; main()"],
        env={
            **os.environ,
            "_RETRAI_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["retrai", *words]),
            "COMP_CWORD": str(len(words)),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ru"], ["run", "runs"]),
        (["gre"], ["greet"]),
        (["run", "ans"], ["answer"]),
        (["run", "--tools", "+look"], ["+look_up"]),
        (["run", "--tools", "shell,-look"], ["shell,-look_up"]),
        (["run", "--model", "script:"], ["script:"]),
        (["run", "--task"], ["--task", "--task-file"]),
    ],
)
def test_commands_goals_models_and_options_are_offered(
    toy, words: list[str], offered: list[str]
) -> None:
    assert completed(*words) == offered


def test_checks_of_the_project_s_own_are_offered_with_their_options(
    toy, project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".retrai.yml").write_text("goals: {rhyme: {use: poem}}\n")
    monkeypatch.chdir(project)
    assert completed("run", "rhy") == ["rhyme"]
    assert completed("run", "rhyme", "--option=ta") == ["task="]
