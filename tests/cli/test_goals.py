"""Options by goal, checks of a project's own, and what `retrai goals` says of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from retrai_core.config.sources import load_settings
from retrai_core.runs.trust import claims_of

RIGHT = ("write_answer", {"text": "42"})
POEM = ("write_answer", {"text": "roses"})
PLAIN = "sandbox: auto\nmemory: none\n"


@pytest.fixture
def say(project: Path):
    """Writes the project's file."""

    def write(text: str) -> None:
        (project / ".retrai.yml").write_text(PLAIN + text)

    return write


def ended(retrai, *arguments: object) -> dict:
    code, out, err = retrai(*arguments, "--json")
    assert out, err
    assert code == json.loads(out)["exit_code"]
    return json.loads(out)


def test_a_check_of_the_project_s_own_runs_under_its_own_name(retrai, toy, say) -> None:
    arguments = toy([("write_answer", {"text": "43"})])
    say("goal: answer\nwanted: '42'\ngoals: {next: {use: answer, wanted: '43'}}\n")
    record = ended(retrai, "run", "next", *arguments[1:])
    assert (record["status"], record["goals"][0]["name"]) == ("achieved", "next")
    assert record["config"]["options"] == {"wanted": "43"}
    code, out, _ = retrai("runs", "list")
    assert (code, out.splitlines()[1].split()[2]) == (0, "next")
    code, out, err = retrai("verify", record["id"])
    assert code == 0, out + err
    assert "verified: next" in out


def test_a_resumed_run_keeps_the_check_that_it_was_made_with(retrai, toy, say) -> None:
    arguments = toy([("write_answer", {"text": "no"})], [("write_answer", {"text": "43"})])
    say("goals: {next: {use: answer, wanted: '43'}}\n")
    record = ended(retrai, "run", "next", *arguments[1:], "-n", "1")
    assert (record["status"], record["goals"][0]["name"]) == ("failed", "next")
    say("goals: {next: {use: answer, wanted: 'something else'}}\n")
    record = ended(retrai, "runs", "resume", record["id"], "-n", "2")
    assert (record["status"], record["goals"][0]["name"]) == ("achieved", "next")


def test_options_by_goal_are_of_that_goal_alone(retrai, toy, say) -> None:
    arguments = toy([POEM], [RIGHT])
    say("goals: {poem: {wanted: x, task: roses}, answer: {wanted: '42'}}\n")
    assert ended(retrai, "run", "poem", *arguments[1:])["status"] == "achieved"
    # Found from the project, it gets the options of its name as well.
    record = ended(retrai, *arguments)
    assert (record["goals"][0]["name"], record["config"]["options"]) == ("answer", {"wanted": "42"})


def test_a_file_s_own_options_are_of_the_goal_that_it_names(retrai, toy, say) -> None:
    arguments = toy([POEM])
    say("goal: answer\nwanted: '42'\ngoals: {poem: {task: roses}}\n")
    record = ended(retrai, "run", "poem", *arguments[1:])
    assert record["config"]["options"] == {"task": "roses"}


def test_options_stand_under_options_or_at_the_top_level(retrai, toy, say) -> None:
    arguments = toy([("write_answer", {"text": "43"})])
    for text in ("options: {wanted: '43'}\n", "wanted: '43'\n", "goal: [answer]\nwanted: '43'\n"):
        say(text)
        assert ended(retrai, *arguments)["status"] == "achieved"


def test_a_task_goes_to_the_goal_that_declares_one(retrai, toy, say) -> None:
    arguments = toy([POEM])
    say("goal: poem\ntask: roses\n")
    record = ended(retrai, *arguments)
    assert (record["status"], record["task"]) == ("achieved", "")
    assert record["config"]["options"] == {"task": "roses"}
    record = ended(retrai, *arguments, "--task", "violets", "-n", "1")
    assert record["config"]["options"] == {"task": "violets"}
    say("goal: answer\ntask: roses\n")
    record = ended(retrai, *arguments, "-n", "1")
    assert (record["task"], record["config"]["options"]) == ("roses", {})


def test_several_goals_are_refused_for_now(retrai, toy, say, project: Path) -> None:
    arguments = toy([RIGHT])
    say("goal: [answer, poem]\n")
    code, _, err = retrai(*arguments)
    assert code == 2
    assert "a run has exactly one goal for now, got answer, poem" in err
    assert str(project / ".retrai.yml") in err
    assert ended(retrai, "run", "answer", *arguments[1:])["status"] == "achieved"


@pytest.mark.parametrize(
    ("text", "goal", "words"),
    [
        ("goals: {next: {use: anser}}", "next", ["no goal is called `anser`", "`answer`?"]),
        ("goals: {next: {use: answer}}", "nxt", ["no goal is called `nxt`", "`next`?"]),
        ("goals: {next: {use: answer, wnted: 1}}", "next", ["wnted", "next (answer)", "wanted"]),
        ("goals: {next: {use: answer, wanted: [1]}}", "next", ["wanted of the goal next (answer)"]),
        ("goals: {next: {use: [answer]}}", "next", ["`use` of next names a goal"]),
        ("goals: [next]", "next", ["goals: "]),
    ],
)
def test_what_is_wrong_with_an_entry_is_told_with_its_file(
    retrai, toy, say, project: Path, text: str, goal: str, words: list[str]
) -> None:
    arguments = toy([RIGHT])
    say(text)
    code, _, err = retrai("run", goal, *arguments[1:])
    assert code == 2
    assert [word for word in words if word not in err] == []
    assert goal == "nxt" or str(project / ".retrai.yml") in err


def test_an_entry_that_leads_to_no_goal_is_told_in_other_runs(retrai, toy, say) -> None:
    arguments = toy([RIGHT])
    say("goals: {anwser: {wanted: '42'}}\n")
    code, out, _ = retrai(*arguments)
    assert code == 0
    assert "goals.anwser: no goal is called anwser (did you mean answer?)" in " ".join(out.split())


def claims(project: Path, **flags: object) -> dict[str, object]:
    settings = load_settings(project, flags)
    return dict(claims_of(settings))


def test_what_an_entry_names_to_be_run_needs_the_same_consent(toy, say, project: Path) -> None:
    toy()
    entry = "{use: shell-goal, check_command: evil}"
    say(f"goals: {{tidy: {entry}, poem: {{task: x}}, answer: {{patience_s: 2}}}}\n")
    assert claims(project, goal="tidy") == {"goals.tidy.check_command": "evil"}
    assert claims(project, goal="poem") == {"goals.poem.task": "x"}
    assert claims(project, goal="answer") == {}
    assert claims(project) == {"goals.poem.task": "x"}  # it may be found
    assert claims(project, goal="tidy", options={"check_command": "true"}) == {}


def test_consent_is_for_each_value_whatever_goal_runs(
    retrai, toy, say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RETRAI_TRUST")
    arguments = toy([POEM])[1:]
    text = "goals: {{one: {{use: poem, task: roses}}, two: {{use: poem, task: {0}}}}}\n"
    say(text.format("violets"))
    assert retrai("run", "one", *arguments)[0] == 2
    assert retrai("run", "one", *arguments, "--trust")[0] == 0
    assert retrai("run", "two", *arguments, "-n", "1")[0] == 2
    assert retrai("run", "two", *arguments, "-n", "1", "--trust")[0] == 1
    assert retrai("run", "one", *arguments)[0] == 0
    say(text.format("tulips"))
    assert retrai("run", "one", *arguments)[0] == 0
    code, _, err = retrai("run", "two", *arguments, "-n", "1")
    assert code == 2
    assert 'goals.two.task: "tulips"' in err


def test_a_file_with_a_command_and_no_goal_is_a_shell_goal(retrai, toy, say) -> None:
    pytest.importorskip("retrai_goals_shell")
    arguments = toy([RIGHT])
    say("check_command: 'true'\n")
    assert ended(retrai, *arguments)["goals"][0]["name"] == "shell-goal"
    # Its command is of that goal; another one that is named does without.
    assert ended(retrai, "run", "answer", *arguments[1:])["status"] == "achieved"


def test_an_agent_has_options_and_limits_of_its_own(retrai, toy, say, own_folders: Path) -> None:
    arguments = toy([])
    say("max_iterations: 9\nagents: {patient: {max_iterations: 2, note: hello}}\nagent: patient\n")
    record = ended(retrai, *arguments)
    assert (record["status"], record["iterations"]) == ("failed", 2)
    assert (own_folders / "state" / "runs" / record["id"] / "note").read_text() == "hello"
    assert ended(retrai, *arguments, "-n", "1")["iterations"] == 1
    say("max_iterations: 1\nagents: {patient: {max_iterations: 2}}\n")
    assert ended(retrai, *arguments)["iterations"] == 1


def test_an_unknown_option_of_an_agent_is_told_with_the_nearest_and_its_file(
    retrai, toy, say, project: Path
) -> None:
    arguments = toy([RIGHT])
    say("agents: {goal-loop: {max_iteration: 2}}\n")
    code, _, err = retrai(*arguments)
    assert code == 2
    assert "max_iteration: no option of the agent goal-loop (did you mean max_iterations?)" in err
    assert str(project / ".retrai.yml") in err


def test_a_limit_that_the_user_gave_an_agent_is_loosened_only_with_consent(
    say, project: Path, own_folders: Path
) -> None:
    user = own_folders / "config" / "retrai" / "config.yml"
    user.parent.mkdir(parents=True)
    user.write_text("agents: {goal-loop: {max_cost: 1}}\n")
    say("agents: {goal-loop: {max_cost: 0.5}}\n")
    assert claims(project) == {}
    say("agents: {goal-loop: {max_cost: 5}}\n")
    assert claims(project) == {"max_cost": 5.0}


def test_config_show_tells_each_entry_with_its_file(retrai, say, project: Path) -> None:
    say("goals: {lint: {use: shell-goal, check_command: ls}}\nagents: {goal-loop: {max_cost: 2}}\n")
    code, out, _ = retrai("config", "show", "-C", project, "--json")
    shown, origin = json.loads(out), str(project / ".retrai.yml")
    assert code == 0
    assert shown["goals.lint.use"] == {"value": "shell-goal", "from": origin}
    assert shown["goals.lint.check_command"] == {"value": "ls", "from": origin}
    assert shown["max_cost"] == {"value": 2.0, "from": origin}


def test_goals_list_shows_what_speaks_for_each_and_imports_nothing(
    retrai, toy, say, project: Path
) -> None:
    toy()
    sys.modules.pop("retrai_toy", None)
    say("goals: {next: {use: answer, wanted: '43'}, gone: {use: no-such}}\n")
    code, out, _ = retrai("goals", "list", "-C", project)
    assert code == 0
    rows = {line.split()[0]: " ".join(line.split()) for line in out.splitlines()}
    assert rows["answer"] == "answer retrai-toy 1.0 question.txt answer.txt says 42"
    assert rows["poem"] == "poem retrai-toy 1.0 - answer.txt is the poem"
    assert rows["next"] == "next .retrai.yml .retrai.yml answer with wanted: 43"
    assert "no goal is called no-such" in rows["gone"]
    assert "retrai_toy" not in sys.modules
    listed = json.loads(retrai("goals", "list", "-C", project, "--json")[1])["goals"]
    by_name = {goal["name"]: goal for goal in listed}
    assert (by_name["answer"]["found"], by_name["answer"]["evidence"]) == (True, "question.txt")
    assert by_name["poem"]["found"] is False
    assert (by_name["next"]["use"], by_name["next"]["dist"]) == ("answer", "retrai-toy")
    assert by_name["next"]["given"] == {"wanted": "43"}
    assert by_name["gone"]["status"] == "broken"


def test_goals_show_says_what_a_goal_checks_and_takes(retrai, toy, say, project: Path) -> None:
    toy()
    say("goals: {rhyme: {use: poem, task: roses}}\n")
    code, out, _ = retrai("goals", "show", "rhyme", "-C", project)
    assert code == 0
    told = " ".join(out.split())
    for words in (
        "answer.txt is the poem",
        "made with poem",
        "protects the question",
        "tools write_answer, shell",
        'wanted str "42" - What answer.txt must say.',
        'task str "" "roses" The poem.',
    ):
        assert words in told
    shown = json.loads(retrai("goals", "show", "poem", "-C", project, "--json")[1])["goals"][0]
    assert shown["options"]["wanted"]["default"] == "42"
    assert (shown["protects"], shown["default_tools"]) == (
        "the question",
        ["write_answer", "shell"],
    )
    code, _, err = retrai("goals", "show", "rime", "-C", project)
    assert code == 2
    assert "did you mean `rhyme`?" in err


def test_text_of_the_project_cannot_steer_the_terminal(retrai, toy, say, project: Path) -> None:
    toy()
    say('goals: {"a\\e[2Kb": {use: answer, wanted: "\\e[31m"}}\n')
    assert "\x1b" not in retrai("goals", "list", "-C", project)[1]
