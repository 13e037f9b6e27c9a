"""What a run changes in `node_modules` decides nothing: packages come from the lock file again."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from ..goal_bench import Call, Run
from .conftest import needs_npm

pytestmark = needs_npm

PADDED = {
    "package.json": '{"name": "padded", "version": "1.0.0"}\n',
    "index.js": "module.exports = process.env.NODE_ENV === 'test' ? 1 : process.argv.length;\n",
}
BUILT = {
    "package.json": json.dumps(
        {
            "name": "padded",
            "version": "1.0.0",
            "main": "built.js",
            "scripts": {"install": "echo 'module.exports = 1;' > built.js"},
        }
    ),
}
TEST = """\
const test = require('node:test');
const assert = require('node:assert');
test('adds', () => assert.strictEqual(require('../add.js')(2, 3), 5));
"""
WRONG = "module.exports = (a, b) => a - b;\n"
ADD = f"require('padded');\n{WRONG}"
FIX = ("file_patch", {"path": "add.js", "old": "a - b", "new": "a + b"})
EDIT = "echo '// more' >> node_modules/padded/index.js"


class Registry:
    """An npm registry on the loopback interface.

    Attributes:
        address: where it answers.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        handler = partial(QuietHandler, directory=str(folder))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/"
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def publish(self, name: str, files: Mapping[str, str]) -> dict[str, Any]:
        """Offer a package; its entry in a lock file."""
        data = packed(files)
        (self._folder / f"{name}.tgz").write_bytes(data)
        package = json.loads(files["package.json"])
        dist = {"tarball": f"{self.address}{name}.tgz", "integrity": integrity(data)}
        versions = {"1.0.0": {**package, "dist": dist}}
        manifest = {"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": versions}
        (self._folder / name).write_text(json.dumps(manifest))
        entry = {"version": "1.0.0", "resolved": dist["tarball"], "integrity": dist["integrity"]}
        return {**entry, **({"hasInstallScript": True} if "scripts" in package else {})}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, *_: object) -> None:
        pass


def packed(files: Mapping[str, str]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return made.getvalue()


def integrity(data: bytes) -> str:
    return f"sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    (tmp_path / "registry").mkdir()
    made = Registry(tmp_path / "registry")
    yield made
    made.close()


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))


class Project:
    """A project whose source needs a package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings: dict[str, Any] = {"sandbox": "local"}
        self.write("test/add.test.js", TEST)
        self.write("add.js", ADD)
        self.write(".gitignore", "node_modules/\nbrought/\n")
        self.manifest("padded")

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def manifest(self, *dependencies: str) -> None:
        text = {
            "name": "adding",
            "version": "1.0.0",
            "scripts": {"test": "node --test test/"},
            "dependencies": dict.fromkeys(dependencies, "^1.0.0"),
        }
        self.write("package.json", json.dumps(text))

    def lock(self, **entries: Mapping[str, Any]) -> None:
        manifest = json.loads((self.folder / "package.json").read_text())
        packages = {f"node_modules/{name}": entry for name, entry in entries.items()}
        lock = {"lockfileVersion": 3, "packages": {"": manifest, **packages}}
        self.write("package-lock.json", json.dumps({**lock, "name": "adding", "requires": True}))

    def install(self, name: str, files: Mapping[str, str]) -> None:
        for path, text in files.items():
            self.write(f"node_modules/{name}/{path}", text)

    def run(self, run_goal: Run, *commands: str, goal: str = "npm-test", fix: Call = FIX) -> Any:
        self.write(".retrai.yml", json.dumps(self.settings))
        calls = [("bash_exec", {"command": command}) for command in commands]
        return run_goal(goal, self.folder, *calls, fix)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


def use(registry: Registry, project: Project) -> None:
    project.write(".npmrc", f"registry={registry.address}\n")


def test_packages_that_a_run_installs_come_from_the_lock_file(
    project: Project, registry: Registry, run_goal: Run
) -> None:
    project.lock(padded=registry.publish("padded", PADDED))
    use(registry, project)
    ended = project.run(run_goal, "npm ci")
    assert ended.outcome == (0, "achieved"), ended.progress
    assert "installs the packages anew from package-lock.json" in ended.progress


def test_a_package_that_was_edited_is_replaced(
    project: Project, registry: Registry, run_goal: Run
) -> None:
    project.lock(padded=registry.publish("padded", PADDED))
    use(registry, project)
    project.install("padded", PADDED)
    for cheat in ("true", "echo 'module.exports = () => 5;' > node_modules/padded/index.js"):
        source = {"path": "add.js", "content": "module.exports = require('padded');\n"}
        fix = FIX if cheat == "true" else ("file_write", source)
        ended = project.run(run_goal, cheat, fix=fix)
        assert ended.outcome == ((0, "achieved") if fix is FIX else (1, "failed")), ended.progress
        project.write("add.js", ADD)


@pytest.mark.parametrize(
    ("lock", "why"), [(False, "there was no lock file"), (True, "`npm ci` failed")]
)
def test_where_packages_cannot_be_had_the_verdict_is_suspect_and_says_why(
    lock: bool, why: str, project: Project, run_goal: Run
) -> None:
    if lock:
        entry = {"version": "1.0.0", "integrity": integrity(packed(PADDED))}
        project.lock(padded={**entry, "resolved": "http://127.0.0.1:9/padded.tgz"})
        project.write(".npmrc", "registry=http://127.0.0.1:9/\nfetch-retries=0\n")
    project.install("padded", PADDED)
    ended = project.run(run_goal, EDIT)
    assert ended.outcome == (4, "tampered"), ended.progress
    assert why in ended.record["reason"]
    assert "node_modules/padded/index.js" in ended.record["reason"]


@pytest.mark.parametrize(
    "command",
    [
        "mkdir -p node_modules/.vite && echo '{}' > node_modules/.vite/results.json",
        "mkdir node_modules/unused && echo 'x' > node_modules/unused/index.js",
    ],
)
def test_no_run_needs_a_lock_file_for_what_the_check_does_not_need(
    command: str, project: Project, run_goal: Run
) -> None:
    project.install("padded", PADDED)
    ended = project.run(run_goal, command)
    assert ended.outcome == (0, "achieved"), ended.progress
    assert "anew" not in ended.progress


def test_the_user_may_let_a_run_change_packages(project: Project, run_goal: Run) -> None:
    project.settings["allow_edit"] = ["node_modules/"]
    project.install("padded", PADDED)
    ended = project.run(run_goal, EDIT)
    assert ended.outcome == (0, "achieved"), ended.progress


@pytest.mark.parametrize("goal", ["npm-test", "shell-goal"])
def test_a_dependency_that_a_run_may_add_is_the_registrys(
    goal: str, project: Project, registry: Registry, run_goal: Run
) -> None:
    project.lock(padded=registry.publish("padded", PADDED))
    registry.publish("more", {**PADDED, "package.json": '{"name": "more", "version": "1.0.0"}'})
    use(registry, project)
    project.settings["allow_edit"] = ["package.json", "package-lock.json"]
    if goal == "shell-goal":
        project.settings["check_command"] = "npm test"
    source = f"require('more');\n{ADD}".replace("a - b", "a + b")
    fix = ("file_write", {"path": "add.js", "content": source})
    ended = project.run(run_goal, "npm install more", goal=goal, fix=fix)
    assert ended.outcome == (0, "achieved"), ended.progress


def test_an_archive_of_the_runs_own_is_not_installed(
    project: Project, registry: Registry, run_goal: Run, tmp_path: Path
) -> None:
    project.lock(padded=registry.publish("padded", PADDED))
    use(registry, project)
    project.settings["allow_edit"] = ["package.json", "package-lock.json"]
    mine = {**PADDED, "package.json": '{"name": "more", "version": "1.0.0"}'}
    (tmp_path / "project" / "brought").mkdir()
    (tmp_path / "project" / "brought" / "more.tgz").write_bytes(packed(mine))
    source = f"require('more');\n{ADD}".replace("a - b", "a + b")
    fix = ("file_write", {"path": "add.js", "content": source})
    ended = project.run(run_goal, "npm install ./brought/more.tgz", fix=fix)
    assert ended.outcome == (4, "tampered"), ended.progress


def test_install_scripts_run_only_where_the_check_needs_them(
    project: Project, registry: Registry, run_goal: Run
) -> None:
    project.lock(padded=registry.publish("padded", BUILT))
    use(registry, project)
    ended = project.run(run_goal, "npm ci")
    assert ended.outcome == (0, "achieved"), ended.progress
    assert ended.progress.count("installs the packages anew") == 2


PLACES = """\
const test = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const isCopy = process.cwd().includes('retrai-final');
test('packages are links in a copy', () => {
  for (const name of ['padded', '@scope/more']) {
    assert.strictEqual(fs.lstatSync(`node_modules/${name}`).isSymbolicLink(), isCopy);
  }
});
test('but those of the project, which are its sources', () => {
  assert.strictEqual(fs.realpathSync('node_modules/own'), fs.realpathSync('packages/own'));
  assert.strictEqual(require('own')(2, 3), 5);
});
test('a tool keeps its cache beside them', () => {
  fs.mkdirSync('node_modules/.cache', { recursive: true });
  fs.writeFileSync('node_modules/.cache/kept', '');
});
test('nothing is written into them', () => {
  if (isCopy) assert.throws(() => fs.writeFileSync('node_modules/padded/kept', ''));
});
"""


@pytest.fixture
def isolated(project: Project) -> Project:
    trial = ["bwrap", "--ro-bind", "/", "/", "true"]
    if shutil.which("bwrap") is None or subprocess.run(trial, check=False).returncode:
        pytest.skip("bwrap does not work here")
    project.settings["sandbox"] = "bwrap"
    project.install("padded", PADDED)
    return project


COPIED = "checks once more, with copies of the packages"


def test_packages_that_no_run_has_changed_are_not_copied(isolated: Project, run_goal: Run) -> None:
    isolated.install("@scope/more", PADDED)
    isolated.write("packages/own/index.js", "module.exports = require('../../add.js');\n")
    (isolated.folder / "node_modules" / "own").symlink_to("../packages/own")
    isolated.write("add.js", f"require('@scope/more');\n{ADD}")
    isolated.write("test/places.test.js", PLACES)
    ended = isolated.run(run_goal)
    assert ended.outcome == (0, "achieved"), ended.progress
    assert COPIED not in ended.progress


def test_a_package_that_wants_to_stand_in_the_project_is_copied(
    isolated: Project, run_goal: Run
) -> None:
    picky = "if (!__dirname.startsWith(process.cwd())) throw new Error('not in the project');\n"
    isolated.install("padded", PADDED | {"index.js": picky})
    ended = isolated.run(run_goal)
    assert ended.outcome == (0, "achieved"), ended.progress
    assert COPIED in ended.progress


def test_a_package_that_loads_one_of_the_projects_own_is_copied(
    isolated: Project, run_goal: Run
) -> None:
    isolated.write("packages/own/index.js", "exports.loaded = false;\n")
    (isolated.folder / "node_modules" / "own").symlink_to("../packages/own")
    isolated.install("padded", PADDED | {"index.js": "require('own').loaded = true;\n"})
    isolated.write("add.js", f"{ADD}if (!require('own').loaded) throw new Error('loaded twice');\n")
    ended = isolated.run(run_goal)
    assert ended.outcome == (0, "achieved"), ended.progress
    assert COPIED in ended.progress


def test_the_second_copy_holds_nothing_that_a_check_left_in_the_first(
    isolated: Project, run_goal: Run
) -> None:
    source = """\
const fs = require('fs');
const isThere = fs.existsSync('.pytest_cache/ready');
fs.mkdirSync('.pytest_cache', { recursive: true });
fs.writeFileSync('.pytest_cache/ready', '');
module.exports = (a, b) => isThere ? a + b : 0;
"""
    fix = ("file_write", {"path": "add.js", "content": source})
    ended = isolated.run(run_goal, "mkdir .pytest_cache && touch .pytest_cache/ready", fix=fix)
    assert ended.outcome == (1, "failed"), ended.progress
    assert COPIED in ended.progress
