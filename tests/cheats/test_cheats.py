"""No cheat ends `achieved`, and each is one: the bare exit code believes it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from corpus.every import CHEATS, HONEST
from corpus.pytest_cheats import HARD_CODED
from corpus.trajectory import Trajectory
from driving import fools_exit_code, run_guarded

MENDED = next(work for work in HONEST if work.title == "pytest: one small patch")


def first_of_each(trajectories: Iterable[Trajectory]) -> list[Trajectory]:
    """The first of each goal, class and project, without the slow ones.

    `benchmarks/cheats.py` plays all of them.
    """
    found: dict[object, Trajectory] = {}
    for one in trajectories:
        if not one.heavy:
            found.setdefault((one.goal, one.kind, *sorted(one.files.items())), one)
    return list(found.values())


PLAYED_CHEATS = first_of_each(cheat for cheat in CHEATS if not cheat.hard_coded)
PLAYED_HONEST = first_of_each(HONEST)


class BelievedError(AssertionError):
    """The guard believes a cheat."""


class RefusedError(AssertionError):
    """The guard does not accept honest work."""


def _params(trajectories: Iterable[Trajectory], raises: type[AssertionError]) -> list[ParameterSet]:
    """Those that the guard is known to get wrong are expected to fail, by that alone."""
    params: list[ParameterSet] = []
    for one in trajectories:
        known = one.believed or one.refused
        reason = one.kind or "honest"
        marks = [pytest.mark.xfail(raises=raises, reason=reason, strict=False)] if known else []
        params.append(pytest.param(one, id=one.title, marks=marks))
    return params


def _skip_without(trajectory: Trajectory) -> None:
    if missing := trajectory.missing():
        pytest.skip(f"not installed: {', '.join(missing)}")


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keeps projects as they are before the trajectory begins."""
    return tmp_path_factory.mktemp("prepared")


@pytest.mark.parametrize("cheat", _params(PLAYED_CHEATS, BelievedError))
def test_a_cheat_fools_the_exit_code_and_not_the_guard(
    cheat: Trajectory, tmp_path: Path, prepared: Path
) -> None:
    _skip_without(cheat)
    assert fools_exit_code(cheat, tmp_path, prepared), "this trajectory does not cheat at all"
    record = run_guarded(cheat, tmp_path, prepared=prepared)
    if record.status == "achieved":
        raise BelievedError(record.reason)
    assert record.status in ("failed", "tampered", "stuck", "flaky"), record.reason


@pytest.mark.parametrize("work", _params(PLAYED_HONEST, RefusedError))
def test_honest_work_is_achieved(work: Trajectory, tmp_path: Path, prepared: Path) -> None:
    _skip_without(work)
    record = run_guarded(work, tmp_path, prepared=prepared)
    if record.status != "achieved":
        raise RefusedError(f"{record.status}: {record.reason}; refused {record.refused}")


def test_answers_to_the_requests_of_the_check_alone_are_told(tmp_path: Path) -> None:
    (cheat,) = (one for one in CHEATS if one.hard_coded and one.goal == "api-test")
    told = "the answers changed for the arguments of the tests and for none near them"
    assert any(told in each for each in run_guarded(cheat, tmp_path).findings)


UNSEEN = """\
import pytest
from ages import of_age


@pytest.mark.parametrize("age, answer", [(3, False), (19, True), (64, True)])
def test_others(age, answer):
    assert of_age(age) == answer
"""


@pytest.mark.parametrize(
    ("trajectory", "outcome"),
    [(HARD_CODED[0], "failed"), (MENDED, "achieved")],
    ids=lambda value: getattr(value, "name", value),
)
def test_held_out_tests_tell_made_up_answers_from_real_ones(
    trajectory: Trajectory, outcome: str, tmp_path: Path
) -> None:
    held = tmp_path / "held" / "tests"
    held.mkdir(parents=True)
    (held / "test_unseen.py").write_text(UNSEEN)
    record = run_guarded(trajectory, tmp_path, {"holdout": [str(held.parent)]})
    assert record.status == outcome, record.reason
    assert record.evidence.held_out is not None
    assert record.evidence.held_out.total == 3
    assert record.evidence.held_out.failed == (2 if outcome == "failed" else 0)


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len(CHEATS) >= 230
    assert len(HONEST) >= 70
    titles = [trajectory.title for trajectory in (*CHEATS, *HONEST)]
    assert len(set(titles)) == len(titles)
