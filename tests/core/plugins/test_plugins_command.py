"""`plugins list` and `plugins show` say what is there, why something is not, and what fixes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from retrai_core import PluginError, RetraiError
from retrai_core.cli.columns import aligned
from retrai_core.cli.plugins import plugins
from retrai_core.plugins.catalog import Catalog

MANIFEST = """schema = 1
[tools.count]
summary = "count the letters"
needs = ["read"]
[tools.count.options]
max_chars = { type = "int", default = 8000, description = "The longest result." }
path = { type = "str", required = true }
"""
GOAL = """
from retrai_core import GoalBase, GoalOptions, GoalResult

class Plugin(GoalBase):
    name = "acme"
CHANGE
    async def check(self, state, cwd):
        return GoalResult(True, "it holds")

    def system_prompt(self):
        return ""
"""
HEADINGS = ["NAME", "KIND", "DIST", "VERSION", "API", "STATUS", "NEEDS", "SOURCE"]
KEYS = {
    "name",
    "kind",
    "dist",
    "version",
    "api",
    "status",
    "source",
    "entry_point",
    "needs",
    "load_ms",
    "error",
}


@pytest.fixture
def tools(site: Any) -> Any:
    site.install(
        "acme-tools",
        version="2.5",
        entry_points="[retrai.tools]\ncount = acme_tools.plugin:Count\n",
        manifest=MANIFEST,
        metadata="Name: acme-tools\nVersion: 2.5\nProject-URL: Homepage, https://acme.example\n"
        "Requires-Dist: retrai-core<0.2,>=0.1\n\n",
    )
    site.install_goal("future-goal", "later", requires=("retrai-core>=99",))
    site.install("gone-goal", entry_points="[retrai.goals]\ngone = gone.plugin:G\n", code=None)
    return site


def output_of(*arguments: str) -> str:
    result = CliRunner().invoke(plugins, arguments, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.output


def test_the_table_has_a_row_for_each_plugin_and_a_line_for_each_problem(tools: Any) -> None:
    lines = output_of("list").splitlines()
    assert lines[0].split() == HEADINGS
    rows = {line.split()[0]: line.split() for line in lines[1:] if line}
    assert rows["count"] == [
        *["count", "tool", "acme-tools", "2.5", ">=0.1,<0.2", "unloaded", "read"],
        str(tools.folder / "acme_tools"),
    ]
    assert rows["later"][5] == "incompatible"
    assert rows["gone"][5:] == ["broken", "?", "-"]
    assert any("pip install --upgrade future-goal retrai-core" in line for line in lines)
    assert any("pip install --force-reinstall gone-goal" in line for line in lines)
    names = [line.split()[0] for line in lines[1 : lines.index("")]]
    assert names == sorted(names)


def test_the_list_can_be_narrowed(tools: Any) -> None:
    broken = output_of("list", "--kind", "goal", "--status", "broken")
    assert [line.split()[0] for line in broken.splitlines()[:2]] == ["NAME", "gone"]
    assert "count" not in broken


def test_the_list_as_json_has_its_schema_and_keys(tools: Any) -> None:
    shown = json.loads(output_of("list", "--json"))
    assert shown["schema"] == 1
    (count,) = [plugin for plugin in shown["plugins"] if plugin["name"] == "count"]
    assert count.keys() >= KEYS
    assert (count["needs"], count["load_ms"], count["status"]) == (["read"], None, "unloaded")


def test_loading_the_list_says_how_each_import_went(site: Any) -> None:
    site.install_goal("bad-goal", "bad", "raise SystemExit(3)")
    site.install_goal("good-goal", "good")
    shown = json.loads(output_of("list", "--kind", "goal", "--load", "--json"))
    found = {plugin["name"]: plugin for plugin in shown["plugins"]}
    assert found["bad"]["status"] == "broken"
    assert "ends the program" in found["bad"]["error"]
    assert (found["good"]["status"], found["good"]["needs"]) == ("ok", ["read", "run"])
    assert found["good"]["load_ms"] > 0


def test_showing_a_plugin_tells_all_that_its_manifest_says(tools: Any) -> None:
    text = output_of("show", "count@acme.tools")
    for part in (
        "acme-tools 2.5",
        "count the letters",
        "retrai-core >=0.1,<0.2",
        "https://acme.example",
        "acme_tools.plugin:Count",
        str(tools.folder / "acme_tools"),
    ):
        assert part in text
    rows = [line.split(maxsplit=3) for line in text.splitlines()]
    assert ["max_chars", "int", "8000", "The longest result."] in rows
    assert ["path", "str", "required"] in rows


def test_showing_a_broken_plugin_tells_the_error_the_traceback_and_the_cure(site: Any) -> None:
    site.install_goal("bad-goal", "bad", "import absent_module_x")
    text = output_of("show", "bad")
    assert "Traceback" in text
    assert "pip install absent_module_x" in text


def test_a_name_that_two_offer_shows_both(site: Any) -> None:
    site.install_goal("acme-a", "check")
    site.install_goal("acme-b", "check")
    shown = json.loads(output_of("show", "check", "--json"))
    assert [plugin["dist"] for plugin in shown["plugins"]] == ["acme-a", "acme-b"]
    assert "also offered by acme-b" in shown["plugins"][0]["error"]


def test_an_unknown_name_is_answered_with_the_nearest(tools: Any) -> None:
    with pytest.raises(RetraiError, match="did you mean `count`") as caught:
        output_of("show", "cuont")
    assert caught.value.exit_code == 2


def test_columns_stay_aligned_with_wide_letters() -> None:
    assert aligned([("好好", "x"), ("abcde", "y")]) == "好好   x\nabcde  y"


def test_the_requirements_install_the_same_set_again(tools: Any) -> None:
    direct = {
        "checkout": {"url": "file:///src/checkout", "dir_info": {"editable": True}},
        "folder": {"url": "file:///src/folder", "dir_info": {}},
        "from-git": {
            "url": "https://git.example/x",
            "vcs_info": {"vcs": "git", "commit_id": "abc"},
        },
        "odd": ["nothing"],
    }
    for dist, content in direct.items():
        site_info = tools.folder / f"{dist.replace('-', '_')}-1.0.dist-info"
        tools.install_goal(dist, dist)
        (site_info / "direct_url.json").write_text(json.dumps(content))
    lines = output_of("list", "--requirements").splitlines()
    ours = [line for line in lines if "retrai" not in line]
    assert ours == [
        "-e file:///src/checkout",
        "acme-tools==2.5",
        "folder @ file:///src/folder",
        "from-git @ git+https://git.example/x@abc",
        "odd==1.0",
    ]


@pytest.mark.parametrize("spelt", ["acme-tools", "Acme_Tools"])
def test_a_distribution_is_shown_by_its_plugins(tools: Any, spelt: str) -> None:
    assert output_of("show", spelt).splitlines()[0] == "count"


@pytest.mark.parametrize("command", [["list", "--load"], ["show", "acme"]], ids=["list", "show"])
def test_a_manifest_out_of_date_is_told_with_the_command_that_writes_it(
    site: Any, command: list[str]
) -> None:
    stale = 'schema = 1\n[goals.acme]\nsummary = "an older one"\nneeds = ["read", "run"]\n'
    site.install_goal("acme-dist", "acme", manifest=stale)
    text = output_of(*command)
    assert "broken" in text
    assert "its manifest is out of date: the class says summary = " in text
    assert "retrai plugins manifest acme-dist" in text


@pytest.mark.parametrize("command", [["list", "--load"], ["show", "acme"]], ids=["list", "show"])
def test_a_hook_that_is_none_of_retrais_is_told(site: Any, command: list[str]) -> None:
    code = (
        "from retrai_core import hookimpl\n"
        "class Plugin:\n"
        "    'A gate.'\n"
        "    @hookimpl\n"
        "    def befor_tool(self, call):\n"
        "        return None\n"
    )
    entry = "[retrai.hooks]\nacme = acme_dist.plugin:Plugin\n"
    site.install("acme-dist", entry_points=entry, code=code)
    text = output_of(*command)
    assert "broken" in text
    assert "befor_tool" in text


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        ("import os; os._exit(7)", "ends with 7"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ends with -9"),
        ("raise SystemExit(3)", "ends the program"),
    ],
)
def test_a_plugin_that_ends_its_process_is_shown_as_broken(
    site: Any, ending: str, told: str
) -> None:
    site.install_goal("acme-dist", "acme", ending)
    text = output_of("show", "acme")
    assert "broken" in text
    assert told in text


def test_what_a_plugin_leaves_running_or_prints_at_exit_is_no_fault_of_its_import(
    site: Any,
) -> None:
    left = (
        "import atexit, subprocess, sys, threading\n"
        "atexit.register(print, 'retrai-probe:{}')\n"
        "subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
    )
    site.install_goal("acme-dist", "acme", left + GOAL.replace("CHANGE", ""))
    (shown,) = json.loads(output_of("show", "acme", "--json"))["plugins"]
    assert (shown["status"], shown["error"]) == ("ok", "")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ('    needs = frozenset({"read", "internet"})\n', "its needs name 'internet'"),
        (
            "    class Options(GoalOptions):\n        max_iterations: int = 3\n",
            "its option 'max_iterations' is a setting of retrai already",
        ),
        ("    class Options(GoalOptions):\n        max_cost: int = 3\n", "its option 'max_cost'"),
    ],
)
def test_a_run_refuses_what_the_conformance_suite_refuses(
    site: Any, change: str, told: str
) -> None:
    code = GOAL.replace("CHANGE", change)
    site.install_goal("acme-dist", "acme", code)
    catalog = Catalog.scan()
    with pytest.raises(PluginError, match=r"the goal|goal `acme` of acme-dist") as caught:
        catalog.load(catalog.find("goal", "acme"))
    assert told in str(caught.value)


def test_a_goal_may_have_a_task_of_its_own(site: Any) -> None:
    option = "    class Options(GoalOptions):\n        task: str = ''\n"
    code = GOAL.replace("CHANGE", option)
    site.install_goal("acme-dist", "acme", code)
    catalog = Catalog.scan()
    assert catalog.load(catalog.find("goal", "acme"))


@pytest.mark.parametrize(
    ("kind", "group", "base"),
    [
        ("store", "retrai.stores", "RunStore"),
        ("engine", "retrai.engines", "Engine"),
        ("sink", "retrai.sinks", "EventSink"),
    ],
)
def test_stores_engines_and_sinks_are_judged_like_every_kind(
    site: Any, retrai: Any, project: Path, kind: str, group: str, base: str
) -> None:
    names = ("right", "wrong")
    source = f"""
from retrai_core import {base}
methods = dict.fromkeys({base}.__abstractmethods__)
Right = type("Right", ({base},), methods | {{"name": "right"}})
class Wrong: name = "wrong"
"""
    points = "".join(f"{name} = acme_kinds.plugin:{name.title()}\n" for name in names)
    site.install("acme-kinds", entry_points=f"[{group}]\n{points}", code=source)
    code, out, _ = retrai("plugins", "list", "--kind", kind, "--load", "--json")
    assert code == 0
    found = {each["name"]: each for each in json.loads(out)["plugins"]}
    assert (found["right"]["kind"], found["right"]["status"]) == (kind, "ok"), found["right"]
    assert found["wrong"]["status"] == "broken"
    assert f"not a subclass of retrai_core.{base}" in found["wrong"]["error"]
