"""What a run installs is compared with the registry's archives, by npm in the run's sandbox."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from ..goal_bench import Run
from .conftest import needs_npm

PACKAGE = {
    "package.json": '{"name": "padded", "version": "1.0.0"}\n',
    "index.js": "module.exports = process.env.NODE_ENV === 'test' ? 1 : process.argv.length;\n",
}
TEST = """\
const test = require('node:test');
const assert = require('node:assert');
test('adds', () => assert.strictEqual(require('../add.js')(2, 3), 5));
"""
ADD = "require('padded');\nmodule.exports = (a, b) => a - b;\n"
MEND = ("file_patch", {"path": "add.js", "old": "a - b", "new": "a + b"})
INSTALL = ("bash_exec", {"command": "mkdir node_modules && cp -r brought/padded node_modules/"})
ASKED = "asks the npm registry for 1 packages"


class Registry:
    """A program called npm that has one archive, and is npm otherwise.

    Attributes:
        integrity: the archive's digest, as lock files write it.
    """

    def __init__(self, folder: Path, *, answers: bool | str) -> None:
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w:gz") as archive:
            for name, text in PACKAGE.items():
                member = tarfile.TarInfo(f"package/{name}")
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text.encode()))
        digest = hashlib.sha512(made.getvalue())
        self.integrity = f"sha512-{base64.b64encode(digest.digest()).decode()}"
        known = folder / "padded.tgz"
        known.write_bytes(made.getvalue())
        lock = folder / "lock.json"
        entry = {"version": "1.0.0", "integrity": self.integrity}
        lock.write_text(json.dumps({"packages": {"": {}, "node_modules/padded": entry}}))
        name = digest.hexdigest()
        self.program = folder / "npm"
        self.program.write_text(
            "#!/bin/bash\n"
            'for word in "$@"; do [[ $word == --cache=* ]] && cache="${word#--cache=}"; done\n'
            f'place="$cache/_cacache/content-v2/sha512/{name[:2]}/{name[2:4]}"\n'
            f'case "$1 {answers}" in\n'
            '  "cache True") grep -qs of-the-run .npmrc && exit 1\n'
            f'    mkdir -p "$place" && exec cp {known} "$place/{name[4:]}";;\n'
            # npm also keeps the archives from anywhere else that a manifest names.
            f'  "install own") mkdir -p "$place" && cp {known} "$place/{name[4:]}"\n'
            f"    exec cp {lock} package-lock.json;;\n"
            '  "cache own") exit 1;;\n'
            f'  "install True") exec cp {lock} package-lock.json;;\n'
            '  "cache False" | "install False") exit 1;;\n'
            "esac\n"
            f'exec {shutil.which("npm")} "$@"\n'
        )
        self.program.chmod(0o755)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name, text in {
        "package.json": json.dumps(
            {"scripts": {"test": "node --test test/"}, "dependencies": {"padded": "^1.0.0"}}
        ),
        "test/add.test.js": TEST,
        "add.js": ADD,
        ".gitignore": "node_modules/\nbrought/\n",
        ".retrai.yml": "sandbox: local\n",
        **{f"brought/padded/{name}": text for name, text in PACKAGE.items()},
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def lock(project: Path, integrity: str) -> None:
    entry = {"version": "1.0.0", "integrity": integrity}
    packages = {"": {}, "node_modules/padded": entry}
    text = json.dumps({"lockfileVersion": 3, "packages": packages})
    (project / "package-lock.json").write_text(text, encoding="utf-8")


@needs_npm
@pytest.mark.parametrize(
    ("case", "outcome"),
    [
        ("locked", (0, "achieved")),
        ("no lock file", (0, "achieved")),
        ("the run names another registry", (0, "achieved")),
        ("an archive that is not the registry's", (4, "tampered")),
        ("another archive is locked", (4, "tampered")),
        ("edited", (4, "tampered")),
        ("no answer", (4, "tampered")),
    ],
)
def test_the_registry_vouches_for_what_the_project_asks_for(
    case: str,
    outcome: Any,
    project: Path,
    run_goal: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    own = case.startswith("an archive")
    registry = Registry(programs, answers="own" if own else case != "no answer")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "empty"))
    if case != "no lock file" and not own:
        other = f"sha512-{base64.b64encode(bytes(64)).decode()}"
        lock(project, other if case == "another archive is locked" else registry.integrity)
    if case == "edited":
        with (project / "brought" / "padded" / "index.js").open("a") as file:
            file.write("// more\n")
    steps = [INSTALL, MEND]
    if case == "the run names another registry":
        (project / ".retrai.yml").write_text("sandbox: local\nallow_edit: [.npmrc]\n", "utf-8")
        (project / ".npmrc").write_text("registry=http://of-the-user.example/\n", "utf-8")
        steps.insert(0, ("bash_exec", {"command": "sed -i s/user/run/ .npmrc"}))
    ended = run_goal("npm-test", project, *steps)
    assert ended.outcome == outcome, ended.progress
    assert ASKED in ended.progress or case == "no answer"
