"""The failures of a run of pytest as one text for the model."""

from __future__ import annotations

import retrai_goal_support

from .pytest_run import PytestRun


def render_failures(run: PytestRun, max_chars: int = 16_000, max_full: int = 10) -> str:
    """What failed, for the model, each error once; the end of the output where nothing is known.

    Args:
        run: the run.
        max_chars: the longest text, in characters.
        max_full: how many different errors are given in full.
    """
    return retrai_goal_support.render_failures(
        run.failures,
        problem=run.problem,
        output="" if run.failures or run.all_passed else run.output_tail,
        max_chars=max_chars,
        max_full=max_full,
    )
