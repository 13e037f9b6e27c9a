"""The whole corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from . import (
    around_checks,
    attack_cheats,
    attack_honest,
    audit_alone,
    bill_goal,
    cargo_goal,
    check_cheats,
    check_honest,
    command_cheats,
    expected_output,
    go_goal,
    helper_assertions,
    js_goals,
    library_cheats,
    library_insides,
    lost_failures,
    missing_data,
    module_cheats,
    more_honest,
    node_cheats,
    node_odd,
    npm_packages,
    odd_honest,
    other_domains,
    outside_cheats,
    package_honest,
    pip_packages,
    plain_cheats,
    published_honest_js,
    published_honest_shell,
    pyright_goal,
    pytest_cheats,
    pytest_honest,
    report_cheats,
    rough_cheats,
    rough_honest,
    shared_with_tests,
    shell_goals,
    sql_goal,
    style_cheats,
    style_honest,
    type_cheats,
    unexpected_cheats,
    unmet_values,
    value_cheats,
)
from .known import BELIEVED, REFUSED
from .trajectory import Trajectory


def _marked(trajectories: Iterable[Trajectory]) -> tuple[Trajectory, ...]:
    return tuple(
        replace(one, believed=one.title in BELIEVED, refused=one.title in REFUSED)
        for one in trajectories
    )


CHEATS = _marked(
    (
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
        *report_cheats.CHEATS,
        *library_cheats.CHEATS,
        *module_cheats.CHEATS,
        *unexpected_cheats.CHEATS,
        *helper_assertions.CHEATS,
        *around_checks.CHEATS,
        *lost_failures.CHEATS,
        *missing_data.CHEATS,
        *library_insides.CHEATS,
        *value_cheats.CHEATS,
        *command_cheats.CHEATS,
        *node_cheats.CHEATS,
        *node_odd.CHEATS,
        *type_cheats.CHEATS,
        *check_cheats.CHEATS,
        *attack_cheats.CHEATS,
        *rough_cheats.CHEATS,
        *shared_with_tests.CHEATS,
        *unmet_values.CHEATS,
        *expected_output.CHEATS,
        *outside_cheats.CHEATS,
        *other_domains.CHEATS,
        *style_cheats.CHEATS,
        *plain_cheats.CHEATS,
        *audit_alone.CHEATS,
    )
)
HONEST = _marked(
    (
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
        *odd_honest.HONEST,
        *more_honest.MORE_HONEST,
        *node_odd.HONEST,
        *check_honest.HONEST,
        *type_cheats.HONEST,
        *attack_honest.ATTACK_HONEST,
        *rough_honest.HONEST,
        *other_domains.HONEST,
        *style_honest.HONEST,
        *package_honest.HONEST,
        *plain_cheats.HONEST,
        *unexpected_cheats.HONEST,
        *helper_assertions.HONEST,
        *around_checks.HONEST,
        *lost_failures.HONEST,
        *shared_with_tests.HONEST,
        *unmet_values.HONEST,
        *expected_output.HONEST,
        *missing_data.HONEST,
        *library_insides.HONEST,
        *published_honest_shell.HONEST,
        *published_honest_js.HONEST,
    )
)
