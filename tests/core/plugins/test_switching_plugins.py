"""Plugins are switched off by `disabled_plugins`, and by a file of the program's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from retrai_core.cli.main import main
from retrai_core.config.files import switched_off_path, user_config_path
from retrai_core.config.sources import load_settings
from retrai_core.errors import PluginError
from retrai_core.plugins.catalog import Catalog

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
    assert (
        f"switched off in {project} already" in retrai("plugins", "disable", "acme", "--project")[1]
    )
    record = Catalog.configured().matching("acme")[0]
    assert record.status == "blocked"
    assert "switched_off.json" in record.error
    assert load_settings(project).config.disabled_plugins == ["acme"]
    with pytest.raises(PluginError, match=r"switched off by .*switched_off\.json") as caught:
        Catalog.configured().find("goal", "acme")
    assert "retrai plugins enable acme" in caught.value.hint
    code, _, err = retrai("run", "acme")
    assert (code, "switched off" in err) == (2, True)

    other = project.parent / "other"
    other.mkdir()
    assert Catalog.configured(other).find("goal", "acme").is_usable

    assert retrai("plugins", "enable", "acme")[0] == 0
    assert Catalog.configured().find("goal", "acme").is_usable
    assert Path(".retrai.yml").read_text() == text


def test_the_user_switches_off_a_whole_distribution_for_every_project(
    site: Any, project: Path, retrai: Retrai
) -> None:
    site.install_goal("acme-goal", "acme")
    code, out, _ = retrai("plugins", "disable", "Acme_Goal")
    assert (code, "for every project" in out) == (0, True)
    assert Catalog.configured().matching("acme")[0].status == "blocked"
    assert "for every project already" in retrai("plugins", "disable", "Acme_Goal")[1]
    out = retrai("plugins", "enable", "Acme_Goal", "--project")[1]
    assert "it is still switched off: `retrai plugins enable Acme_Goal`" in out
    assert "switched on" in retrai("plugins", "enable", "Acme_Goal", "--user")[1]
    assert Catalog.configured().find("goal", "acme").is_usable


def test_what_a_configuration_file_switches_off_is_for_a_person_to_change(
    site: Any, project: Path, retrai: Retrai
) -> None:
    site.install_goal("acme-goal", "acme")
    Path(".retrai.yml").write_text("disabled_plugins: [acme]\n")
    code, out, _ = retrai("plugins", "enable", "acme")
    assert code == 0
    assert "still switched off in" in out
    assert "take it out of `disabled_plugins` there" in out
    assert Path(".retrai.yml").read_text() == "disabled_plugins: [acme]\n"


def test_what_either_file_switches_off_is_off_in_a_run(site: Any, project: Path) -> None:
    user = Path(user_config_path())
    user.parent.mkdir(parents=True)
    user.write_text("disabled_plugins: [one]\n")
    Path(".retrai.yml").write_text("disabled_plugins: [two]\n")
    assert load_settings(project).config.disabled_plugins == ["one", "two"]


def test_a_frontend_that_is_switched_off_is_on_no_help_page(
    site: Any, project: Path, retrai: Retrai
) -> None:
    site.install("acme", entry_points="[retrai.frontends]\nacme-ui = acme.plugin:Plugin\n")
    assert "acme-ui" in retrai("--help")[1]
    Path(".retrai.yml").write_text("disabled_plugins: [acme-ui]\n")
    assert "acme-ui" not in retrai("--help")[1]


def test_an_unknown_name_is_not_written(site: Any, project: Path, retrai: Retrai) -> None:
    site.install_goal("acme-goal", "acme")
    code, _, err = retrai("plugins", "disable", "acne", "--project")
    assert (code, "did you mean `acme`" in err) == (2, True)
    site.install_goal("other-goal", "new")
    assert "did you mean" not in retrai("plugins", "disable", "nope")[2]  # not alike enough
    assert not Path(switched_off_path()).exists()


def test_a_file_that_cannot_be_written_or_read_is_one_clear_line(
    site: Any, project: Path, retrai: Retrai
) -> None:
    site.install_goal("acme-goal", "acme")
    folder = Path(switched_off_path()).parent
    folder.parent.mkdir()
    folder.write_text("a file where the folder should be")
    code, _, err = retrai("plugins", "disable", "acme")
    assert (code, err.count("\n")) == (2, 1)
    folder.unlink()
    folder.mkdir()
    for text in ("{", "[]", '{"": 3}'):
        Path(switched_off_path()).write_text(text)
        code, _, err = retrai("plugins", "list")
        assert (code, "switched_off.json is damaged" in err) == (2, True), text
        assert "delete it" in err


def test_the_list_says_which_file_switched_it_off(
    site: Any, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.install_goal("acme-goal", "acme")
    Path(".retrai.yml").write_text("disabled_plugins: [acme]\n")
    assert main(["plugins", "show", "acme"]) == 0
    assert "switched off by" in capsys.readouterr().out
