"""`plugins doctor` finds what is wrong without importing anything, and plans a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retrai_core.plugins.written import WRITTEN

Retrai = Callable[..., tuple[int, str, str]]
NEVER = "raise SystemExit('imported')"


@pytest.fixture
def doctor(retrai: Retrai) -> Callable[[], tuple[int, dict[str, Any]]]:
    """Runs the doctor in the current folder: exit code and what it says as JSON."""

    def examine() -> tuple[int, dict[str, Any]]:
        code, out, _ = retrai("plugins", "doctor", "--json")
        said = json.loads(out)
        assert (said["schema"], said["ok"]) == (1, code == 0)
        return code, said

    return examine


@pytest.fixture
def acme(site: Any, project: Path) -> Any:
    """A goal with a marker, an option that must be given, and tools; none may be imported."""
    site.install(
        "acme-goal",
        entry_points="[retrai.goals]\nacme = acme_goal.plugin:Goal\n"
        "[retrai.tools]\nsaw = acme_goal.plugin:Saw\n"
        "[retrai.llms]\nparrot = acme_goal.plugin:Parrot\n",
        code=NEVER,
        manifest='schema = 1\n[goals.acme]\nmarkers = [{ glob = "acme.toml" }]\n'
        'default_tools = ["saw", "hammer"]\n'
        '[goals.acme.options]\nsize = { type = "int", default = 1 }\n'
        '[tools.saw]\nprograms = ["sh"]\n'
        '[tools.saw.options]\nteeth = { type = "int", default = 9 }\n'
        '[llms.parrot]\nmodel_patterns = ["parrot:*"]\n',
    )
    (project / "acme.toml").write_text("")
    (project / ".retrai.yml").write_text("model: parrot:x\nmemory: none\n")
    return site


def problems(said: dict[str, Any]) -> str:
    found = [finding for finding in said["findings"] if finding["level"] == "problem"]
    return "\n".join(f"{each['about']}: {each['message']} [{each['fix']}]" for each in found)


def notes(said: dict[str, Any]) -> str:
    return "\n".join(each["message"] for each in said["findings"] if each["level"] == "note")


def test_the_plan_says_what_a_run_would_use_and_why(acme: Any, doctor: Any, retrai: Retrai) -> None:
    _, said = doctor()
    assert not [line for line in problems(said).splitlines() if "acme" in line]
    parts = {(part["kind"], part["name"]): part for part in said["plan"]["parts"]}
    assert parts["goal", "acme"]["why"] == "found by acme.toml"
    assert parts["goal", "acme"]["dist"] == "acme-goal"
    assert "parrot:x" in parts["llm", "parrot"]["why"]
    assert parts["llm", "parrot"]["why"].endswith(".retrai.yml)")
    assert parts["tool", "saw"]["why"] == "the set of acme"
    assert {("agent", "goal-loop"), ("sandbox", "local")} <= set(parts)
    assert not [kind for kind, _ in parts if kind == "memory"]
    assert "the model goes without hammer (not installed)" in notes(said)
    assert "found by acme.toml" in retrai("plugins", "doctor")[1]


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("goal: acne", "did you mean `acme`"),
        ("tools: [saw, drill]", "no tool is called `drill`"),
        ("memory: nowhere", "no memory is called `nowhere`"),
        ("sandbox: glass", "no sandbox is called `glass`"),
        ("agent: smith", "no agent is called `smith`"),
        ("model: gpt\ndisabled_plugins: [litellm]", "no provider serves the model `gpt`"),
        ("sise: 3", "did you mean size?"),
        ("plugins: {swa: {}}", "no plugin is called `swa`"),
        ("plugins: {saw: {teath: 1}}", "did you mean teeth?"),
        ("pins: {saw: other}", "pinned to other"),
        ("required_plugins: {retrai-absent-x: '*'}", "pip install retrai-absent-x"),
        ("required_plugins: {acme-goal: new}", "is not a version range"),
        ("max_iterations: many", "max_iterations"),
        ("goal: [", "not valid YAML"),
    ],
)
def test_a_name_in_the_configuration_that_nobody_knows_is_a_problem(
    acme: Any, project: Path, doctor: Any, line: str, about: str
) -> None:
    base = [text for text in ("model: parrot:x", "memory: none") if text[:5] != line[:5]]
    (project / ".retrai.yml").write_text("\n".join([*base, line]) + "\n")
    code, said = doctor()
    assert code == 1
    assert about in problems(said)


def test_a_project_without_a_goal_is_told_so(acme: Any, project: Path, doctor: Any) -> None:
    (project / "acme.toml").unlink()
    code, said = doctor()
    assert (code, "no installed goal fits" in problems(said)) == (1, True)


def test_an_option_that_must_be_given_is_missed(acme: Any, project: Path, doctor: Any) -> None:
    acme.install(
        "strict",
        entry_points="[retrai.goals]\nstrict = strict.plugin:G\n",
        code=NEVER,
        manifest='schema = 1\n[goals.strict.options]\npath = { type = "str", required = true }\n',
    )
    (project / ".retrai.yml").write_text("goal: strict\nmodel: parrot:x\n")
    code, said = doctor()
    assert (code, "its option path must be given" in problems(said)) == (1, True)


def test_every_kind_of_broken_distribution_is_found(acme: Any, doctor: Any) -> None:
    acme.install_goal("future", "later", requires=("retrai-core>=99",))
    acme.install("gone", entry_points="[retrai.goals]\ngone = gone.plugin:G\n", code=None)
    acme.install_goal("odd", "odd", manifest="schema = 7\n")
    acme.install_goal("poor", "poor", requires=("retrai-absent-x>=2", "click<0.1"))
    acme.install_goal("twin-a", "twin")
    acme.install_goal("twin-b", "twin")
    acme.install(
        "echo",
        entry_points="[retrai.llms]\necho = echo.plugin:E\n",
        code=NEVER,
        manifest='schema = 1\n[llms.echo]\nmodel_patterns = ["parrot:*"]\n',
    )
    stale = acme.folder / "poor-1.0.dist-info" / "RECORD"
    stale.write_text("poor/plugin.py,,\npoor/lost.py,,\npoor/__pycache__/x.pyc,,\n")
    code, said = doctor()
    found = problems(said)
    assert code == 1
    for part in (
        "incompatible: it needs retrai-core>=99",
        "broken: there is no module `gone` to import",
        "pip install --force-reinstall gone",
        "schema is 7",
        "it requires click<0.1, retrai-absent-x>=2",
        "pip install 'click<0.1' 'retrai-absent-x>=2'",
        "also offered by twin-b",
        "served by echo@echo and parrot@acme-goal",
        "poor 1.0: 1 of its 2 files are gone",
    ):
        assert part in found, part


def test_an_older_distribution_later_on_the_path_is_a_duplicate(
    acme: Any, doctor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = type(acme)(tmp_path / "later")
    later.install_goal("acme-goal", "acme", version="0.5")
    monkeypatch.setattr("sys.path", [*__import__("sys").path, str(later.folder)])
    code, said = doctor()
    assert (code, "an earlier acme-goal on the path is used" in problems(said)) == (1, True)


@pytest.mark.parametrize(("used", "level"), [(True, "problem"), (False, "note")])
def test_a_missing_program_is_a_problem_only_where_a_run_would_need_it(
    acme: Any, project: Path, doctor: Any, monkeypatch: pytest.MonkeyPatch, used: bool, level: str
) -> None:
    monkeypatch.setenv("PATH", str(project))
    if not used:
        (project / ".retrai.yml").write_text("model: parrot:x\nmemory: none\ntools: []\n")
    _, said = doctor()
    (finding,) = [f for f in said["findings"] if "`sh`" in f["message"]]
    assert (finding["level"], finding["fix"]) == (level, "install sh")


def test_a_lock_that_differs_is_noted(acme: Any, doctor: Any, retrai: Retrai) -> None:
    retrai("plugins", "lock")
    acme.install_goal("more", "more")
    assert "more 1.0 is not in the lock" in notes(doctor()[1])
    Path("retrai.lock").write_text("schema = 9\n")
    assert "retrai.lock has the schema 9" in problems(doctor()[1])


def test_damage_inside_a_manifest_that_retrai_wrote_is_a_problem(acme: Any, doctor: Any) -> None:
    acme.install(
        "more",
        entry_points="[retrai.frontends]\nmore = more.plugin:More\n",
        code=NEVER,
        manifest=f'{WRITTEN}\nschema = 1\n\n[frontends.more]\nneeds = []\ncolor = "red"\n',
    )
    code, said = doctor()
    assert (code, "has the unknown key `color`" in problems(said)) == (1, True)
