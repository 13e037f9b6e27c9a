"""`disabled_plugins` switches plugins off everywhere, and is written without touching the rest."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import platformdirs
import pytest
import yaml
from hypothesis import given, reject
from hypothesis import strategies as st

from retrai_core.cli.main import main
from retrai_core.config_files import parse_config, user_config_path
from retrai_core.errors import PluginError, UsageError
from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.disabling import with_disabled, without_disabled
from retrai_core.plugins.summaries import plugin_summaries
from retrai_core.settings import load_settings

Retrai = Callable[..., tuple[int, str, str]]


def test_the_users_file_is_where_platformdirs_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("/elsewhere/config", "", None):
        if value is None:
            monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
        else:
            monkeypatch.setenv("XDG_CONFIG_HOME", value)
        assert Path(user_config_path()).parent == Path(platformdirs.user_config_dir("retrai"))


def test_a_plugin_is_switched_off_and_on_in_the_project(
    site: Any, project: Path, retrai: Retrai
) -> None:
    site.install_goal("acme-goal", "acme")
    text = "# ours\ngoal: acme   # the one\n\nmax_iterations: 3\n"
    Path(".retrai.yml").write_text(text)
    assert retrai("plugins", "disable", "acme", "--project")[0] == 0
    assert Path(".retrai.yml").read_text() == f"{text}disabled_plugins:\n  - acme\n"

    record = Catalog.configured().matching("acme")[0]
    assert record.status == "blocked"
    assert ".retrai.yml" in record.error
    with pytest.raises(PluginError, match=r"switched off by .*retrai\.yml") as caught:
        Catalog.configured().find("goal", "acme")
    assert "retrai plugins enable acme" in caught.value.hint
    code, _, err = retrai("run", "acme")
    assert (code, "switched off" in err) == (2, True)

    assert retrai("plugins", "enable", "acme")[0] == 0
    assert Path(".retrai.yml").read_text() == f"{text}disabled_plugins: []\n"
    assert Catalog.configured().find("goal", "acme").is_usable


def test_the_user_switches_off_a_whole_distribution_for_every_project(
    site: Any, project: Path, retrai: Retrai
) -> None:
    site.install_goal("acme-goal", "acme")
    code, out, _ = retrai("plugins", "disable", "Acme_Goal")
    assert (code, "config.yml" in out) == (0, True)
    assert Catalog.configured().matching("acme")[0].status == "blocked"
    assert "config.yml already" in retrai("plugins", "disable", "Acme_Goal")[1]
    out = retrai("plugins", "enable", "Acme_Goal", "--project")[1]
    assert "still switched off in" in out
    assert "switched on" in retrai("plugins", "enable", "Acme_Goal", "--user")[1]


def test_what_either_file_switches_off_is_off_in_a_run(site: Any, project: Path) -> None:
    user = Path(user_config_path())
    user.parent.mkdir(parents=True)
    user.write_text("disabled_plugins: [one]\n")
    Path(".retrai.yml").write_text("disabled_plugins: [two]\n")
    assert load_settings(project).config.disabled_plugins == ["one", "two"]


def test_a_frontend_that_is_switched_off_is_on_no_help_page(site: Any, project: Path) -> None:
    site.install("acme", entry_points="[retrai.frontends]\nacme-ui = acme.plugin:Plugin\n")
    assert "acme-ui" in plugin_summaries("frontend")
    Path(".retrai.yml").write_text("disabled_plugins: [acme-ui]\n")
    assert "acme-ui" not in plugin_summaries("frontend")


def test_an_unknown_name_is_not_written(site: Any, project: Path, retrai: Retrai) -> None:
    site.install_goal("acme-goal", "acme")
    code, _, err = retrai("plugins", "disable", "acne", "--project")
    assert (code, "did you mean `acme`" in err) == (2, True)
    assert not Path(".retrai.yml").exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("goal: [", "not valid YAML"),
        ("disabled_plugins: acme\n", "must be a list"),
        ("{goal: acme}\n", "form that is not edited here"),
        ("goal: a\ngoal: b\n", "`goal` is given twice"),
    ],
)
def test_a_file_that_cannot_be_edited_is_left_as_it_is(
    site: Any, project: Path, retrai: Retrai, text: str, problem: str
) -> None:
    site.install_goal("acme-goal", "acme")
    Path(".retrai.yml").write_text(text)
    code, _, err = retrai("plugins", "disable", "acme", "--project")
    assert (code, problem in err) == (2, True)
    assert Path(".retrai.yml").read_text() == text


def test_a_file_that_cannot_be_written_is_one_clear_line(
    site: Any, project: Path, retrai: Retrai
) -> None:
    site.install_goal("acme-goal", "acme")
    Path(".retrai.yml").write_text("goal: acme\n")
    Path(".retrai.yml").chmod(0o444)
    code, _, err = retrai("plugins", "disable", "acme", "--project")
    assert (code, err) == (
        2,
        "error: .retrai.yml cannot be written: its mode allows nobody to write\n",
    )
    (project.parent / "config").write_text("a file where the folder should be")
    code, _, err = retrai("plugins", "disable", "acme", "--user")
    assert (code, err.count("\n"), "cannot be written" in err) == (2, 1, True)
    assert sorted(path.name for path in project.iterdir()) == [".retrai.yml"]
    assert Path(".retrai.yml").read_text() == "goal: acme\n"


def test_the_files_mode_stays_and_a_symlink_is_followed(
    site: Any, project: Path, retrai: Retrai
) -> None:
    site.install_goal("acme-goal", "acme")
    real = project.parent / "dotfiles.yml"
    real.write_text("goal: acme\n")
    real.chmod(0o640)
    Path(".retrai.yml").symlink_to(real)
    assert retrai("plugins", "disable", "acme", "--project")[0] == 0
    assert Path(".retrai.yml").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(path.name for path in project.parent.glob("*dotfiles*")) == ["dotfiles.yml"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "disabled_plugins:\n  - x\n"),
        ("goal: a", "goal: a\ndisabled_plugins:\n  - x\n"),
        ("disabled_plugins:\nb: 1\n", "disabled_plugins: [x]\nb: 1\n"),
        ("disabled_plugins: []  # none\n", "disabled_plugins: [x]  # none\n"),
        ("disabled_plugins: [a, 'b']\n", "disabled_plugins: [a, 'b', x]\n"),
        (
            "disabled_plugins:\n- a  # slow\n# why\nb: 1\n",
            "disabled_plugins:\n- a  # slow\n- x\n# why\nb: 1\n",
        ),
        ("disabled_plugins:\r\n    - a\r\n", "disabled_plugins:\r\n    - a\r\n    - x\n"),
    ],
)
def test_a_name_is_added_in_the_form_of_the_list(before: str, after: str) -> None:
    assert with_disabled(before, "x", "f") == after
    assert with_disabled(after, "x", "f") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("disabled_plugins: [x]\n", "disabled_plugins: []\n"),
        ("disabled_plugins: [x, 'b']\n", "disabled_plugins: ['b']\n"),
        ("disabled_plugins: [a, x, b]\n", "disabled_plugins: [a, b]\n"),
        ("disabled_plugins:  # off\n  - x\ng: 1\n", "disabled_plugins: []  # off\ng: 1\n"),
        (
            "disabled_plugins:\n  # kept\n  - a\n  - x # slow\n",
            "disabled_plugins:\n  # kept\n  - a\n",
        ),
        ("disabled_plugins: [x, x]\n", "disabled_plugins: []\n"),
        ("goal: a\n", "goal: a\n"),
    ],
)
def test_a_name_is_taken_out_of_the_list(before: str, after: str) -> None:
    assert without_disabled(before, "x", "f") == after


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1)


@given(
    names=st.lists(NAMES, unique=True, max_size=4),
    name=NAMES,
    flow=st.booleans(),
    rest=st.dictionaries(NAMES, st.integers() | NAMES, max_size=3),
)
def test_whatever_the_names_only_the_list_changes(
    names: list[str], name: str, flow: bool, rest: dict[str, Any]
) -> None:
    document = {**rest, "disabled_plugins": names, "zz": 1}
    text = yaml.safe_dump(document, default_flow_style=None if flow else False, sort_keys=False)
    try:
        added = with_disabled(text, name, "f")
        removed = without_disabled(added, name, "f")
    except UsageError:
        # Texts over several lines and the like: said, and nothing written.
        reject()
    wanted = names if name in names else [*names, name]
    assert parse_config(added, "f") == {**document, "disabled_plugins": wanted}
    kept = [other for other in names if other != name]
    assert parse_config(removed, "f") == {**document, "disabled_plugins": kept}


def test_the_list_says_which_file_switched_it_off(
    site: Any, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.install_goal("acme-goal", "acme")
    Path(".retrai.yml").write_text("disabled_plugins: [acme]\n")
    assert main(["plugins", "show", "acme"]) == 0
    assert "switched off by" in capsys.readouterr().out
