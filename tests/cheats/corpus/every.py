"""The whole corpus."""

from __future__ import annotations

from . import (
    bill_goal,
    cargo_goal,
    go_goal,
    js_goals,
    npm_packages,
    pip_packages,
    pyright_goal,
    pytest_cheats,
    pytest_honest,
    shell_goals,
    sql_goal,
)
from .trajectory import Trajectory

CHEATS: tuple[Trajectory, ...] = (
    *pytest_cheats.CHEATS,
    *bill_goal.CHEATS,
    *pyright_goal.CHEATS,
    *shell_goals.CHEATS,
    *cargo_goal.CHEATS,
    *go_goal.CHEATS,
    *js_goals.CHEATS,
    *npm_packages.CHEATS,
    *pip_packages.CHEATS,
    *sql_goal.CHEATS,
)
HONEST: tuple[Trajectory, ...] = (
    *pytest_honest.HONEST,
    *bill_goal.HONEST,
    *pyright_goal.HONEST,
    *shell_goals.HONEST,
    *cargo_goal.HONEST,
    *go_goal.HONEST,
    *js_goals.HONEST,
    *npm_packages.HONEST,
    *pip_packages.HONEST,
    *sql_goal.HONEST,
)
