"""Every code block of the pages for authors is run.

- `python` blocks of a page run one after the other, in one module.
- A block below a line that is only a path in backticks is a file of that name.
- In `console` blocks, lines that begin with `$ ` are run, and what they print is what stands below;
  `...` stands for anything.
- `toml` and `yaml` blocks are parsed.

Installing and building want an index and a build environment of their own: here `pip install -e`
puts the sources and the metadata of a wheel on the import path, `python -m build` is hatchling
alone, and `pip install` of anything else does nothing.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
import types
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

PAGES = sorted((Path(__file__).parents[2] / "docs" / "plugins").glob("*.md"))
_BLOCK = re.compile(r"(?:^`([^`\n]+)`\n\n)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A code block: its language, its text, and the file that it is, if any."""

    language: str
    text: str
    file: str


def blocks(page: Path) -> list[Block]:
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [Block(language, text, file) for file, language, text in found]


def with_blocks(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(b.language in languages for b in blocks(page))]


@pytest.fixture
def module(tmp_path: Path, monkeypatch) -> types.ModuleType:
    """A module of its own in an empty folder: pydantic looks annotations up in `sys.modules`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETRAI_STATE_DIR", str(tmp_path.parent / f"{tmp_path.name}-state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path.parent / f"{tmp_path.name}-config"))
    made = types.ModuleType("a_page_of_the_documentation")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


@pytest.mark.parametrize("page", with_blocks("python"), ids=lambda page: page.stem)
def test_python_blocks_run(page: Path, module: types.ModuleType) -> None:
    for number, block in enumerate(blocks(page), 1):
        if block.language == "python" and not block.file:
            code = compile(block.text, f"{page.name}, block {number}", "exec")
            exec(code, vars(module))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_is_of_a_language_that_is_tried(page: Path) -> None:
    for block in blocks(page):
        assert block.language in ("python", "console", "toml", "yaml"), block.text[:80]
        if block.language == "toml":
            tomllib.loads(block.text)
        if block.language == "yaml":
            yaml.safe_load(block.text)


class Shell:
    """Does what a reader does: writes the files and types the commands of a page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder.parent / "site"
        kept = {n: t for n, t in os.environ.items() if not n.startswith(("RETRAI_", "PYTEST_"))}
        self.env = kept | {
            "PYTHONPATH": f"{self.site}{os.pathsep}{folder / 'src'}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "RETRAI_STATE_DIR": str(folder.parent / "state"),
            "XDG_CONFIG_HOME": str(folder.parent / "config"),
            "NO_COLOR": "1",
            "COLUMNS": "200",
        }

    def type(self, line: str) -> str:
        """What a command prints."""
        words = shlex.split(line)
        match words:
            case ["pip", "install", "-e", _]:
                return self._install()
            case ["pip", "install", *_]:
                return ""
            case ["python", "-m", "build", "--wheel"]:
                wheel = self._build()
                return f"* hatchling\nSuccessfully built {wheel.name}\n"
            case ["retrai", *rest]:
                return self._python("-m", "retrai_core", *rest)
            case ["pytest", *rest]:
                return self._python("-m", "pytest", "-p", "no:langsmith_plugin", *rest)
        raise AssertionError(f"the documentation types a command that is not tried: {line}")

    def _install(self) -> str:
        with zipfile.ZipFile(self._build()) as archive:
            infos = [name for name in archive.namelist() if ".dist-info/" in name]
            archive.extractall(self.site, infos)
        return ""

    def _build(self) -> Path:
        self._python("-m", "hatchling", "build", "-t", "wheel", "-d", str(self.folder / "dist"))
        (wheel,) = (self.folder / "dist").glob("*.whl")
        return wheel

    def _python(self, *args: str) -> str:
        done = subprocess.run(
            [sys.executable, *args],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with what it is to print."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    assert parts[0] == "", "a console block begins with `$ `"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def fits(printed: str, expected: str) -> bool:
    """Whether it is what the page shows; `...` stands for anything, also for nothing."""
    pieces = [re.escape(piece.strip()) for piece in expected.strip().split("...")]
    return re.fullmatch(r"[\s\S]*".join(pieces), printed.strip()) is not None


@pytest.mark.parametrize("page", with_blocks("console"), ids=lambda page: page.stem)
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    folder = tmp_path / "retrai-short-lines"
    folder.mkdir()
    shell = Shell(folder)
    for block in blocks(page):
        if block.file:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for line, expected in commands(block.text):
                printed = shell.type(line)
                assert fits(printed, expected), f"$ {line}\n{printed}"
