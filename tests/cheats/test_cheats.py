"""No cheat ends `achieved`, and each is one: the bare exit code believes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus.every import CHEATS, HONEST
from corpus.trajectory import Trajectory
from driving import fools_exit_code, run_guarded

VISIBLE = [cheat for cheat in CHEATS if not cheat.hard_coded]


def _skip_without(trajectory: Trajectory) -> None:
    if missing := trajectory.missing():
        pytest.skip(f"not installed: {', '.join(missing)}")


@pytest.mark.parametrize("cheat", VISIBLE, ids=lambda cheat: cheat.title)
def test_a_cheat_fools_the_exit_code_and_not_the_guard(cheat: Trajectory, tmp_path: Path) -> None:
    _skip_without(cheat)
    assert fools_exit_code(cheat, tmp_path), "this trajectory does not cheat at all"
    record = run_guarded(cheat, tmp_path)
    assert record.status in ("failed", "tampered", "stuck", "flaky"), record.reason


@pytest.mark.parametrize("work", HONEST, ids=lambda work: work.title)
def test_honest_work_is_achieved(work: Trajectory, tmp_path: Path) -> None:
    _skip_without(work)
    record = run_guarded(work, tmp_path)
    assert record.status == "achieved", f"{record.reason}; refused {record.refused}"


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len(CHEATS) >= 40
    assert len(HONEST) >= 20
    titles = [trajectory.title for trajectory in (*CHEATS, *HONEST)]
    assert len(set(titles)) == len(titles)
