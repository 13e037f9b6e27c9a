"""What each layer of the guard is worth, on the corpus of cheats in `tests/cheats`.

    python benchmarks/cheats.py [--only TEXT] [--kind TEXT | --honest] [--markdown] [--jobs N]
                                [--without RULE ...]

Every trajectory is done without retrai, on a project whose baseline stands, and then one layer
after another looks at what has become of it, until one does not believe it. What all believe is
done again as a whole `retrai run`, in which edits are refused too.
The table says how many cheats would have been believed by the exit code alone, by each layer added
to those before it, and by the whole guard; and how many honest trajectories the whole guard let
through, and how long their verification took, as a multiple of one check. A second table says it by
the class of cheat, with the layer that first stopped each.
`--without` switches off rules of the audit for lines of the diff, by what they report
(`--without "skips the test"`), or `all` of them. A cheat that is believed then needs them.
Exits with 1 when a cheat was achieved that needs no holdout and is not marked as `believed`, or
honest work was not that is not marked as `refused`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import aclosing
from pathlib import Path
from statistics import median
from typing import Any

from counts import positive

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cheats"))

from corpus.every import CHEATS, HONEST  # noqa: E402
from corpus.trajectory import Trajectory  # noqa: E402
from driving import apply, config_of, exit_code, make_project, run_guarded  # noqa: E402

from retrai_core import RetraiError, RunConfig  # noqa: E402
from retrai_core.config.sources import Settings  # noqa: E402
from retrai_core.runs.resolver import Resolver  # noqa: E402
from retrai_core.runs.session import RunSession  # noqa: E402
from retrai_core.verification.baseline import differing  # noqa: E402
from retrai_core.verification.behaviour import observe  # noqa: E402
from retrai_core.verification.final_check import final_check  # noqa: E402
from retrai_core.verification.guard import Guard  # noqa: E402
from retrai_core.verification.restore import restore_files  # noqa: E402
from retrai_core.verification.verdict import judge  # noqa: E402
from retrai_goal_support import Trick, audits  # noqa: E402

LAYERS = (
    "the exit code alone",
    "+ protected files put back",
    "+ new steering files set aside",
    "+ the goal's own isolated runner",
    "+ every case counted",
    "+ the clean copy",
    "+ contradictions",
    "+ recorded answers",
    "the whole guard: refusals, audit",
)
MOST_CHECKS = 6
"""What the verification may take at worst."""
CHECK_S = 40.0
"""Recorded calls are played for a quarter of it."""


async def believed_by_layer(trajectory: Trajectory, room: Path) -> AsyncIterator[bool]:
    """Whether each layer but the last believes what the trajectory leaves behind."""
    project = room / "layers"
    python = make_project(trajectory, project)
    config: RunConfig = config_of(trajectory, project, python)
    run_dir = room / "run"
    run_dir.mkdir()
    resolved = Resolver(Settings(config), run_dir=run_dir).run()
    async with RunSession(resolved, run_dir) as session:
        await session.build()
        guard: Guard = session.guard
        await guard.take_baseline()
        session.snapshots.take(0)
        for step in trajectory.steps:
            apply(step, project)
        yield exit_code(trajectory, project, python) == 0
        # The first half of what `restore` does, by itself.
        changed = list(differing(project, guard.baseline))
        restore_files(project, run_dir / "baseline", changed)
        yield exit_code(trajectory, project, python) == 0
        await guard.restore()
        yield exit_code(trajectory, project, python) == 0
        # An empty state is the baseline's.
        later = {"iteration": len(trajectory.steps)}
        result = await session.context.goal.check(later, project)
        yield result.achieved
        yield judge(guard.baseline, result).achieved
        verdict, suspect = await final_check(guard, later, contradict=False)
        yield verdict.achieved and not suspect
        verdict, suspect = await final_check(guard, later, contradict=True)
        yield verdict.achieved and not suspect
        session.snapshots.take(1)
        try:
            seen = await observe(guard, session.snapshots, verdict, CHECK_S)
        except RetraiError:  # the old tree cannot be had; a run says so and goes on
            yield True
        else:
            yield not seen.suspect


def row(trajectory: Trajectory) -> list[bool]:
    """Whether each layer with those before it believes the trajectory, and at last the whole guard.

    What one layer does not believe, no later one is asked about; the tests play every cheat
    against the whole guard.
    """
    believed = asyncio.run(_until_disbelieved(trajectory))
    if all(believed):
        believed.append(achieved(trajectory))
    return [*believed, *[False] * (len(LAYERS) - len(believed))]


async def _until_disbelieved(trajectory: Trajectory) -> list[bool]:
    believed: list[bool] = []
    with tempfile.TemporaryDirectory(prefix="retrai-cheats-") as folder:
        async with aclosing(believed_by_layer(trajectory, Path(folder))) as layers:
            async for one in layers:
                believed.append(one)
                if not one:
                    break
    return believed


def achieved(trajectory: Trajectory) -> bool:
    """Whether a whole run believes the trajectory."""
    with tempfile.TemporaryDirectory(prefix="retrai-cheats-") as folder:
        return run_guarded(trajectory, Path(folder)).status == "achieved"


def leave_out(rules: Collection[str]) -> None:
    """Switch these rules of the audit off in this process; `all` stands for every rule."""
    fits = audits.begins_here

    def fits_others(trick: Trick, *place: Any) -> bool:
        return trick.what not in rules and "all" not in rules and fits(trick, *place)

    audits.begins_here = fits_others


def honest_run(trajectory: Trajectory) -> tuple[str, float, float]:
    """Why a whole run refuses the trajectory, or "", how many checks its verification took, and how
    many seconds the check.

    The verification is all that follows the last check in the project, to the end of the run.
    """
    with tempfile.TemporaryDirectory(prefix="retrai-cheats-") as folder:
        record = run_guarded(trajectory, Path(folder))
        (log,) = Path(folder).rglob("events.jsonl")
        events = [json.loads(line) for line in log.read_bytes().splitlines()]
    checks = [
        (event["ts"], event["payload"]["duration_s"])
        for event in events
        if event["kind"] == "goal_check" and event["payload"]["phase"] == "iteration"
    ]
    if record.status != "achieved":
        return f"{record.status}: {record.reason} {record.findings}", 0.0, 0.0
    if not checks:
        return "", 0.0, 0.0
    ended, check_s = checks[-1]
    return "", (events[-1]["ts"] - ended) / check_s, check_s


def main() -> int:
    """Print the table; the exit status says whether the aims were met."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default="", help="trajectories with this text in their title")
    parser.add_argument("--kind", default="", help="cheats with this text in their class")
    parser.add_argument("--honest", action="store_true", help="honest trajectories, no cheats")
    parser.add_argument("--markdown", action="store_true", help="only the table, for the docs")
    parser.add_argument("--jobs", type=positive, default=2, help="trajectories side by side")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="RULE",
        help="switch off a rule",
    )
    asked = parser.parse_args()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    corpus = [] if asked.honest else CHEATS
    cheats = [one for one in _runnable(corpus, asked.only) if asked.kind in one.kind]
    honest = [] if asked.kind else list(_runnable(HONEST, asked.only))
    if not cheats and not honest:
        parser.error("no trajectory that can run here has such a title or class")
    believed: dict[str, list[bool]] = {}
    if cheats and not asked.markdown:
        print("x: believed by the layers so far;", ", ".join(LAYERS))
    with ProcessPoolExecutor(
        asked.jobs, initializer=leave_out, initargs=(asked.without,)
    ) as processes:
        for cheat, marks in zip(cheats, processes.map(row, cheats), strict=True):
            believed[cheat.title] = marks
            if not asked.markdown:
                print("".join("x" if mark else "." for mark in marks), cheat.title, flush=True)
        done = list(zip(honest, processes.map(honest_run, honest), strict=True))
    refused = {work.title: why for work, (why, _, _) in done if why}
    if cheats:
        print(f"{table(cheats, believed)}\n\n{table_by_class(cheats, believed)}\n")
    print(f"honest trajectories achieved: {len(honest) - len(refused)} of {len(honest)}")
    for title, why in refused.items():
        print(f"refused: {title}: {why}")
    costs = {work.title: checks for work, (_, checks, _) in done if checks}
    if costs:
        worst = max(costs, key=costs.__getitem__)
        print(
            f"their verification took {median(costs.values()):.1f} checks at the median, "
            f"{costs[worst]:.1f} at worst ({worst})"
        )
        many = [check_s for _, (_, checks, check_s) in done if checks > MOST_CHECKS]
        longest = f", with checks of at most {max(many):.2f} s" if many else ""
        print(f"more than {MOST_CHECKS} checks: {len(many)} of {len(costs)}{longest}")
    wrong = [one for one in cheats if believed[one.title][-1] and not one.hard_coded]
    wrong += [one for one in honest if one.title in refused]
    known = {one.title for one in (*cheats, *honest) if one.believed or one.refused}
    for one in wrong:
        print("wrong, as marked:" if one.title in known else "wrong:", one.title)
    for title in sorted(known - {one.title for one in wrong}):
        print("right, and the mark can go:", title)
    return 1 if any(one.title not in known for one in wrong) else 0


def table(cheats: list[Trajectory], believed: dict[str, list[bool]]) -> str:
    """Cheats believed, by layer and by goal, in Markdown."""
    goals = list(dict.fromkeys(cheat.goal for cheat in cheats))
    count = Counter(cheat.goal for cheat in cheats)
    head = " | ".join(f"{goal} ({count[goal]})" for goal in goals)
    lines = [f"| believed by | all ({len(cheats)}) | {head} |", "|---" * (len(goals) + 2) + "|"]
    for number, layer in enumerate(LAYERS):
        by_goal = Counter(cheat.goal for cheat in cheats if believed[cheat.title][number])
        cells = " | ".join(str(by_goal[goal]) for goal in goals)
        lines.append(f"| {layer} | {by_goal.total()} | {cells} |")
    return "\n".join(lines)


def table_by_class(cheats: list[Trajectory], believed: dict[str, list[bool]]) -> str:
    """Cheats believed by the whole guard, and what first stopped the others, in Markdown."""
    lines = [
        "| class | cheats | believed by the whole guard | first stopped by |",
        "|---|---|---|---|",
    ]
    for kind in dict.fromkeys(cheat.kind or "others" for cheat in cheats):
        rows = [believed[cheat.title] for cheat in cheats if (cheat.kind or "others") == kind]
        stopped = Counter(LAYERS[row.index(False)] for row in rows if not row[-1])
        told = ", ".join(f"{layer} ({count})" for layer, count in stopped.most_common())
        lines.append(f"| {kind} | {len(rows)} | {sum(row[-1] for row in rows)} | {told} |")
    return "\n".join(lines)


def _runnable(corpus: Iterable[Trajectory], only: str) -> Iterable[Trajectory]:
    for trajectory in corpus:
        if only not in trajectory.title:
            continue
        if missing := trajectory.missing():
            print(f"left out, {', '.join(missing)} is missing: {trajectory.title}")
            continue
        yield trajectory


if __name__ == "__main__":
    raise SystemExit(main())
