"""`plugins install` and `uninstall` drive the environment's own installer and import no plugin."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

UV = shutil.which("uv")
NAME = "retrai_test_goal"
"""Nothing that an index has."""
HAS_PIP = any(Path(entry, "pip", "__init__.py").is_file() for entry in sys.path)


def build_wheel(folder: Path, name: str, version: str = "1.0") -> Path:
    """A wheel with one goal that ends the program when it is imported."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": "raise SystemExit('a plugin was imported')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[retrai.goals]\n{name} = {name}:Goal\n",
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(path, text)
    return wheel


@dataclass
class Environment:
    """A throw-away environment that sees the packages of the one that runs the tests."""

    folder: Path
    wheels: Path

    @property
    def site(self) -> Path:
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    def retrai(self, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run `retrai plugins ...` in it; no installer may ask an index."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("RETRAI_", "PIP_", "UV_"))}
        return subprocess.run(
            [self.folder / "bin" / "python", "-P", "-m", "retrai_core", "plugins", *arguments],
            env={
                **kept,
                "PATH": kept["PATH"] if path is None else path,
                "HOME": str(self.wheels),
                "XDG_CONFIG_HOME": str(self.wheels / "config"),
                "RETRAI_STATE_DIR": str(self.wheels / "state"),
                "PIP_CONFIG_FILE": os.devnull,
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": str(self.wheels),
                "UV_CONFIG_FILE": str(self.wheels / "uv.toml"),
                "UV_OFFLINE": "1",
                "UV_CACHE_DIR": str(self.wheels / "cache"),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            cwd=self.wheels,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """An environment without a pip of its own."""
    folder, wheels = tmp_path / "env", tmp_path / "wheels"
    wheels.mkdir()
    build_wheel(wheels, NAME)
    (wheels / "uv.toml").write_text(f'no-index = true\nfind-links = ["{wheels}"]\n')
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=60)
    made = Environment(folder, wheels)
    entries = [entry for entry in sys.path if Path(entry).is_dir()]
    (made.site / "outer.pth").write_text("\n".join(entries) + "\n")
    return made


def made_by_uv(environment: Environment) -> None:
    with (environment.folder / "pyvenv.cfg").open("a") as file:
        file.write("uv = 0.9.0\n")


@pytest.mark.parametrize(
    "installer",
    [
        pytest.param("uv", marks=pytest.mark.skipif(UV is None, reason="uv is not on PATH")),
        pytest.param("pip", marks=pytest.mark.skipif(not HAS_PIP, reason="no pip to run")),
    ],
)
def test_what_is_installed_and_removed_is_shown_and_not_imported(
    environment: Environment, installer: str
) -> None:
    if installer == "uv":
        made_by_uv(environment)
    done = environment.retrai("install", NAME)
    assert (done.returncode, done.stdout) == (0, f"+ goal {NAME}, {NAME} 1.0\n"), done.stderr
    command = done.stderr.splitlines()[0]
    assert ("uv pip install" if installer == "uv" else "-m pip") in command
    assert "no plugin came or went" in environment.retrai("install", NAME).stdout

    build_wheel(environment.wheels, NAME, "2.0")
    done = environment.retrai("install", f"{NAME}>=2")
    assert done.stdout == f"~ goal {NAME}, {NAME} 1.0 -> 2.0\n"

    done = environment.retrai("install", NAME, "retrai_absent_x")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        f"error: {installer} could not install {NAME} retrai_absent_x (exit code "
    )
    assert last.endswith("no plugin came or went")
    assert "absent" in done.stderr.partition("\n")[2]  # the installer's own words

    done = environment.retrai("uninstall", NAME)
    assert (done.returncode, done.stdout) == (0, f"- goal {NAME}, {NAME} 2.0\n"), done.stderr
    assert not list(environment.site.glob(f"{NAME}*"))


def test_an_installer_that_fails_half_way_is_one_line_with_what_it_changed(
    environment: Environment,
) -> None:
    """pipx is played by a script: its place in the story is its name and its exit code."""
    metadata = {"main_package": {"package": "retrai"}}
    (environment.folder / "pipx_metadata.json").write_text(json.dumps(metadata))
    programs = environment.wheels / "bin"
    programs.mkdir()
    info = environment.site / "half-1.0.dist-info"
    script = programs / "pipx"
    script.write_text(
        f'#!/bin/sh\necho "$@"\nmkdir {info}\n'
        f"printf 'Name: half\\nVersion: 1.0\\n' > {info}/METADATA\n"
        f"printf '[retrai.goals]\\nhalf = half:Goal\\n' > {info}/entry_points.txt\n"
        "echo 'disk full'\nexit 3\n"
    )
    script.chmod(0o755)
    done = environment.retrai("install", "half", path=f"{programs}:/usr/bin:/bin")
    assert done.returncode == 1
    assert "inject retrai half\ndisk full" in done.stderr
    assert done.stderr.splitlines()[-1] == (
        "error: pipx could not install half (exit code 3); what it changed all the same:"
    )
    assert done.stdout.startswith("+ goal half, half 1.0 (broken: there is no module `half`")


@pytest.mark.parametrize(
    ("file", "text", "says", "hint"),
    [
        (
            "pipx_metadata.json",
            '{"main_package": {"package": "retrai"}}',
            "pipx made this environment",
            f"`pipx inject retrai {NAME}` does it",
        ),
        (
            "uv-receipt.toml",
            '[tool]\nrequirements = [{ name = "retrai" }, { name = "other", specifier = ">=2" }]\n',
            "`uv tool` made this environment",
            f"`uv tool install retrai --with 'other>=2' --with {NAME}` does it",
        ),
    ],
)
def test_an_environment_that_another_tool_keeps_says_the_command_to_type(
    environment: Environment, file: str, text: str, says: str, hint: str
) -> None:
    (environment.folder / file).write_text(text)
    done = environment.retrai("install", NAME, path="/usr/bin:/bin")
    assert done.returncode == 2
    assert says in done.stderr
    assert hint in done.stderr
    assert not list(environment.site.glob(f"{NAME}*"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["uninstall", "absent-x"], "no distribution absent-x is installed"),
        (["uninstall", "goal-loop"], "the plugin goal-loop belongs to retrai-core"),
        (["uninstall", "Retrai.Core"], "is what this command runs on"),
        (["install", "--", "--pre"], "'--pre' is no distribution"),
        (["install", ""], "'' is no distribution"),
        (["install"], "missing argument"),
    ],
)
def test_what_is_no_distribution_starts_no_installer(
    environment: Environment, arguments: list[str], says: str
) -> None:
    done = environment.retrai(*arguments)
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr
