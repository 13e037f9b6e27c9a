"""The kit passes plugins that keep their contract, and names the rule that a bad one breaks.

The plugins stand in `site/sample_plugins`, their conformance tests in `samples`; both are run by a
pytest of their own, as an author would.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import psutil
import pytest
from pydantic import Field

from retrai_core import GoalOptions, Tool
from retrai_testkit import GoalConformance, ToolConformance

HERE = Path(__file__).parent
MARK = "SAMPLES_OF_ONE_TEST"


def failed_tests(name: str, tmp_path: Path, site: str = "site") -> dict[str, set[str]]:
    """The tests that fail, without parameters, for each class of a file of samples."""
    report = tmp_path / "report.xml"
    # langsmith's pytest plugin, which langchain-core brings here, takes two seconds to import.
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:langsmith_plugin", f"--junitxml={report}"]
    mark = uuid.uuid4().hex
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir=.", *options, name],
        cwd=HERE / "samples",
        env={
            **os.environ,
            "PYTHONPATH": str(HERE / site),
            "PYTHONDONTWRITEBYTECODE": "1",
            MARK: mark,
        },
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    end_marked(mark)
    assert report.exists(), done.stdout + done.stderr
    found: dict[str, set[str]] = {}
    for case in ET.parse(report).iter("testcase"):
        failed = found.setdefault(case.attrib["classname"].rpartition(".")[2], set())
        if case.find("failure") is not None or case.find("error") is not None:
            failed.add(case.attrib["name"].partition("[")[0])
    return found


def end_marked(mark: str) -> None:
    """End what the bad plugins left running: they must not outlive the test that tried them."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark:
                process.kill()


def require(found: dict[str, set[str]], expected: dict[str, set[str]]) -> None:
    """The good plugins fail nothing, and each bad one fails at least what it breaks."""
    assert found.keys() == expected.keys()
    for name, broken in expected.items():
        if broken:
            assert broken <= found[name], f"{name} also passes {sorted(broken - found[name])}"
        else:
            assert not found[name], f"{name} fails {sorted(found[name])}"


def test_each_bad_tool_fails_the_rule_that_it_breaks(tmp_path: Path) -> None:
    require(
        failed_tests("conform_tools.py", tmp_path),
        {
            "TestGood": set(),
            "TestPastWorkspace": {
                "test_it_touches_the_project_only_through_its_context",
                "test_no_path_leads_out_of_the_project",
            },
            "TestPastSandbox": {
                "test_it_touches_the_project_only_through_its_context",
                "test_it_gives_up_by_itself",
                "test_cancelling_it_leaves_no_process",
            },
            "TestUndeclaredWrite": {"test_it_declares_what_it_needs"},
            "TestSharedState": {
                "test_two_runs_share_nothing",
                "test_using_it_changes_no_global_state",
            },
            "TestWrongErrors": {"test_what_cannot_be_done_is_said_in_one_line"},
            "TestNeverCut": {"test_a_long_answer_is_cut"},
            "TestUndocumented": {
                "test_every_option_is_documented",
                "test_an_unknown_option_is_refused",
                "test_every_argument_is_documented",
                "test_an_unknown_argument_is_refused",
            },
            "TestNotInManifest": {"test_the_manifest_says_what_the_class_says"},
            "TestRude": {
                "test_importing_it_is_light",
                "test_importing_it_only_defines_things",
            },
            "TestOverridden": {"test_every_replaced_test_says_why"},
            "TestNoExamples": {
                "test_examples_come_out_as_stated",
                "test_cancelling_it_leaves_no_process",
            },
        },
    )


def test_each_bad_goal_fails_the_rule_that_it_breaks(tmp_path: Path) -> None:
    require(
        failed_tests("conform_goals.py", tmp_path),
        {
            "TestGood": set(),
            "TestUnstableIds": {"test_case_ids_are_stable"},
            "TestIdsWithFolder": {"test_a_clean_copy_is_checked_like_the_project"},
            "TestIgnoresCwd": {"test_a_clean_copy_is_checked_like_the_project"},
            "TestNoReason": {"test_a_failing_project_is_not_achieved"},
            "TestBadGlobs": {"test_its_globs_are_valid"},
            "TestPastSandbox": {"test_processes_start_in_the_sandbox"},
            "TestRaises": {"test_a_broken_runner_is_an_answer"},
            "TestLitters": {
                "test_a_check_changes_no_file",
                "test_checking_changes_no_global_state",
            },
            "TestGreen": {
                "test_a_passing_project_is_achieved",
                "test_a_failing_project_is_not_achieved",
            },
            "TestPassesWithoutReport": {"test_a_pass_has_a_report_where_a_failure_has_one"},
            "TestTextAsAnswer": {"test_its_globs_are_valid", "test_a_passing_project_is_achieved"},
            "TestUnknownNeeds": {"test_its_needs_are_known"},
            "TestOptionOfTheCore": {"test_its_options_are_its_own"},
            "TestOneName": {
                "test_the_entry_point_has_the_plugin_s_name",
                "test_the_entry_point_leads_to_the_plugin",
            },
        },
    )


def test_an_option_of_which_nobody_says_whether_it_loosens_the_check_is_named() -> None:
    class Silent:
        class Options(GoalOptions):
            depth: int = 1
            lines: int = Field(default=1, json_schema_extra={"loosens": False})

    class TestSilent(GoalConformance):
        plugin = Silent

    with pytest.raises(AssertionError, match="to agree to depth:"):
        TestSilent().test_every_option_says_whether_it_loosens_the_check()


def test_each_bad_agent_without_a_goal_fails_the_rule_that_it_breaks(tmp_path: Path) -> None:
    # In a site of their own: a run loads every hook, and those of the other one are bad.
    require(
        failed_tests("conform_agents.py", tmp_path, "agent_site"),
        {
            "TestGoodAnswer": set(),
            "TestCallsToolsItself": {
                "test_a_tool_that_fails_does_not_end_the_run",
                "test_it_goes_on_where_it_stopped",
            },
            "TestAnyInput": {"test_every_field_of_its_input_is_documented"},
        },
    )


def test_each_bad_plugin_of_another_kind_fails_the_rule_that_it_breaks(tmp_path: Path) -> None:
    require(
        failed_tests("conform_others.py", tmp_path),
        {
            "TestGoodEcho": set(),
            "TestCrashingReady": {
                "test_what_is_missing_is_said_before_the_run",
                "test_asking_whether_it_is_ready_is_cheap",
            },
            "TestNoChatModel": {
                "test_it_makes_a_chat_model_that_answers",
                "test_the_cost_of_an_answer_is_a_price_or_unknown",
            },
            "TestOneModelForAll": {
                "test_its_patterns_name_the_model",
                "test_two_runs_share_nothing",
                "test_using_it_changes_no_global_state",
            },
            "TestGoodStore": set(),
            "TestLosesEntries": {"test_runs_that_end_side_by_side_lose_nothing"},
            "TestWorstFirst": {"test_the_best_comes_first"},
            "TestRaisesOnDamage": {"test_an_unreadable_store_is_a_warning"},
            "TestLearnsFromFailure": {"test_every_outcome_may_be_learnt_from"},
            "TestLeakyEnvironment": {"test_keys_of_the_user_never_get_in"},
            "TestNoTimeOut": {
                "test_long_output_is_cut_in_the_middle",
                "test_a_file_can_be_limited",
            },
            "TestLeavesProcesses": {
                "test_a_program_s_end_is_told",
                "test_what_goes_on_in_the_background_is_ended",
                "test_a_time_out_ends_everything",
            },
            "TestNoCheckpointer": {"test_it_builds_a_graph"},
            "TestDoesNothing": {"test_it_reaches_the_goal"},
            "TestGoodCount": set(),
            "TestOtherName": {
                "test_it_gives_a_command_of_its_name",
                "test_its_help_is_complete",
                "test_bad_arguments_are_refused_in_one_line",
            },
            "TestGoodGate": set(),
            "TestUnknownArgument": {"test_its_hooks_are_retrai_s"},
            "TestWrongAnswers": {
                "test_every_hook_answers_as_specified",
                "test_its_arguments_stay_as_they_are",
                "test_using_it_changes_no_global_state",
            },
            "TestMisspelt": {"test_its_hooks_are_retrai_s"},
            "TestFormerSink": {"test_its_hooks_are_retrai_s"},
            "TestGoodSink": set(),
            "TestChoosySink": {
                "test_it_hears_every_kind_of_event",
                "test_using_it_changes_no_global_state",
            },
            "TestLeavingSink": {"test_using_it_changes_no_global_state"},
        },
    )


def test_a_tool_that_is_offered_to_nobody_known_is_told() -> None:
    class Sulks(Tool):
        name = "sulks"
        description = "Sulk."
        offered = "never"  # type: ignore[assignment] # what the suite is to find

        async def run(self, args: Any, context: Any) -> Any: ...

    class Sulking(ToolConformance):
        plugin = Sulks

    with pytest.raises(AssertionError, match="'never', none of always, by_goal"):
        Sulking().test_it_says_which_runs_get_it()
