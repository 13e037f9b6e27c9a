"""Installed files are believed by the digests in the user's lock file, and by nothing else."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_goals_js.installed.archives import Archives
from retrai_goals_js.installed.lock_files import LockFile
from retrai_goals_js.installed.vouching import Vouching

from .conftest import SCRIPT, Shelf, integrity, packed

PAD = {"package.json": '{"name": "pad", "version": "1.0.0"}', "index.js": "process.exit(1)\n"}
PLACE = "node_modules/pad"
Form = Callable[[str], str] | None
"""Writes a lock file with one package by its digest; None for npm's."""


def vouched(shelf: Shelf, lock: LockFile, paths: list[str]) -> set[str]:
    archives = Archives([shelf.cache])
    return Vouching(shelf.project, [lock], archives, set(paths).__contains__).vouched(paths)


def fetched(shelf: Shelf, lock: LockFile, paths: list[str]) -> set[str]:
    """As `vouched`, where the cache holds what the registry gave."""
    archives = Archives([])
    archives.fetched = shelf.cache
    return Vouching(shelf.project, [lock], archives, set(paths).__contains__).vouched(paths)


def yarn(digest: str) -> str:
    return f'pad@^1.0.0:\n  version "1.0.0"\n  resolved "x/pad-1.0.0.tgz"\n  integrity {digest}\n'


def pnpm(digest: str) -> str:
    return f"packages:\n\n  pad@1.0.0:\n    resolution: {{integrity: {digest}}}\n"


def bun(digest: str) -> str:
    return f'{{"packages": {{"pad": ["pad@1.0.0", "", {{}}, "{digest}"],}},}}\n'


@pytest.mark.parametrize("form", [yarn, pnpm, bun, None])
def test_what_a_lock_file_names_by_its_digest_is_vouched_for(form: Form, shelf: Shelf) -> None:
    digest = shelf.lock(PLACE, PAD)
    lock = LockFile("", form(digest) if form else shelf.npm_lock())
    assert lock.names_archives
    paths = shelf.install(PLACE, PAD)
    assert vouched(shelf, lock, paths) == set(paths)


@pytest.mark.parametrize("form", [yarn, pnpm, bun, None])
def test_a_file_that_was_edited_or_added_is_not(form: Form, shelf: Shelf) -> None:
    digest = shelf.lock(PLACE, PAD)
    lock = LockFile("", form(digest) if form else shelf.npm_lock())
    paths = shelf.install(PLACE, {**PAD, "index.js": "process.exit(0)\n", "more.js": "x\n"})
    assert vouched(shelf, lock, paths) == {f"{PLACE}/package.json"}


def test_nothing_is_vouched_for_by_a_cache_that_holds_something_else(shelf: Shelf) -> None:
    shelf.lock(PLACE, PAD)
    (cached,) = (path for path in shelf.cache.rglob("*") if path.is_file())
    other = {**PAD, "index.js": "process.exit(0)\n"}
    cached.write_bytes(packed(other))
    paths = shelf.install(PLACE, other)
    assert vouched(shelf, LockFile("", shelf.npm_lock()), paths) == set()


@pytest.mark.parametrize("form", [yarn, None])
def test_a_locked_package_stands_for_no_other(form: Form, shelf: Shelf) -> None:
    digest = shelf.lock(PLACE, PAD)
    other = "node_modules/jest"
    lock = LockFile("", form(digest) if form else shelf.npm_lock())
    assert vouched(shelf, lock, shelf.install(other, PAD)) == set()
    beside = f'jest@^29:\n  dependencies:\n    pad "^1"\n\n{yarn(digest)}'
    assert vouched(shelf, LockFile("", beside), shelf.install(other, PAD)) == set()


def test_a_package_under_another_name_is_known_where_the_lock_says_so(shelf: Shelf) -> None:
    digest = shelf.lock("node_modules/padding", PAD, name="pad")
    paths = shelf.install("node_modules/padding", PAD)
    assert vouched(shelf, LockFile("", shelf.npm_lock()), paths) == set(paths)
    named = yarn(digest).replace("pad@^1.0.0", '"padding@npm:pad@^1.0.0"')
    assert vouched(shelf, LockFile("", named), paths) == set(paths)


def test_npms_lock_file_says_where_each_version_belongs(shelf: Shelf) -> None:
    newer = {**PAD, "index.js": "process.exit(2)\n"}
    shelf.lock(PLACE, PAD)
    shelf.lock(f"node_modules/a/{PLACE}", newer)
    assert vouched(shelf, LockFile("", shelf.npm_lock()), shelf.install(PLACE, newer)) == {
        f"{PLACE}/package.json"
    }
    placed_anew = LockFile("", shelf.npm_lock(), placed=False)
    assert len(fetched(shelf, placed_anew, shelf.install(PLACE, newer))) == 2


def test_of_a_lock_made_anew_only_the_registrys_archives_vouch(shelf: Shelf) -> None:
    shelf.lock(PLACE, PAD)
    lock = LockFile("", shelf.npm_lock(), placed=False)
    paths = shelf.install(PLACE, PAD)
    assert vouched(shelf, lock, paths) == set()
    assert fetched(shelf, lock, paths) == set(paths)


def test_a_lock_file_speaks_of_its_own_folder(shelf: Shelf) -> None:
    shelf.lock(PLACE, PAD)
    paths = shelf.install(f"app/{PLACE}", PAD)
    assert vouched(shelf, LockFile("app", shelf.npm_lock()), paths) == set(paths)
    assert vouched(shelf, LockFile("other", shelf.npm_lock()), paths) == set()


def test_what_a_package_brings_inside_it_is_vouched_for_with_it(shelf: Shelf) -> None:
    files = {**PAD, "node_modules/inner/index.js": "1\n"}
    shelf.lock(PLACE, files)
    paths = shelf.install(PLACE, files)
    assert vouched(shelf, LockFile("", shelf.npm_lock()), paths) == set(paths)


TOOL = {
    "package.json": '{"name": "tool", "version": "1.0.0", "bin": {"tool": "./bin/tool"},'
    ' "optionalDependencies": {"tool-linux": "1.0.0"}}',
    "bin/tool": "text\n",
    "index.js": "text\n",
}
NATIVE = {"package.json": '{"name": "tool-linux"}', "bin/tool": "fast\n", "bin/index.js": "fast\n"}


def test_a_program_may_be_that_of_a_package_that_is_needed(shelf: Shelf) -> None:
    shelf.lock("node_modules/tool", TOOL)
    shelf.lock("node_modules/tool-linux", NATIVE)
    lock = LockFile("", shelf.npm_lock())
    faster = {**TOOL, "bin/tool": "fast\n", "index.js": "fast\n"}
    assert vouched(shelf, lock, shelf.install("node_modules/tool", faster)) == {
        "node_modules/tool/package.json",
        "node_modules/tool/bin/tool",
    }


@pytest.mark.parametrize(
    ("link", "target", "right"),
    [
        ("tool", "../tool/bin/tool", True),
        ("node", "../tool/bin/tool", False),
        ("tool", "../tool/index.js", False),
        ("tool", "../other/bin/tool", False),
        ("tool", "/bin/true", False),
    ],
)
def test_a_link_must_start_what_its_package_declares(
    link: str, target: str, right: bool, shelf: Shelf
) -> None:
    shelf.lock("node_modules/tool", TOOL)
    paths = shelf.install("node_modules/tool", TOOL)
    paths += shelf.install("node_modules/other", {**TOOL, "bin/tool": "mine\n"})
    path = shelf.project / "node_modules" / ".bin" / link
    path.parent.mkdir()
    path.symlink_to(target)
    name = f"node_modules/.bin/{link}"
    assert (name in vouched(shelf, LockFile("", shelf.npm_lock()), [*paths, name])) == right


def test_a_link_to_a_program_that_was_left_alone_is_right(shelf: Shelf) -> None:
    shelf.install("node_modules/tool", TOOL)
    (shelf.project / "node_modules" / ".bin").mkdir()
    (shelf.project / "node_modules" / ".bin" / "tool").symlink_to("../tool/bin/tool")
    name = "node_modules/.bin/tool"
    lock = LockFile("", shelf.npm_lock())
    assert vouched(shelf, lock, [name]) == {name}
    assert vouched(shelf, lock, [name, "node_modules/tool/bin/tool"]) == set()


def test_a_store_is_linked_to_under_the_packages_own_name(shelf: Shelf) -> None:
    inner = "node_modules/.pnpm/pad@1.0.0/node_modules/pad"
    lock = LockFile("", pnpm(shelf.lock(PLACE, PAD)))
    paths = shelf.install(inner, PAD)
    modules = shelf.project / "node_modules"
    for name in ("pad", "jest"):
        (modules / name).symlink_to(".pnpm/pad@1.0.0/node_modules/pad")
    links = ["node_modules/pad", "node_modules/jest"]
    assert vouched(shelf, lock, [*paths, *links]) == {*paths, "node_modules/pad"}


def test_a_link_out_of_the_project_is_not_vouched_for(shelf: Shelf, tmp_path: Path) -> None:
    shelf.install("../elsewhere/node_modules/tool", TOOL)
    modules = shelf.project / "node_modules"
    (modules / ".bin").mkdir(parents=True)
    (modules / "tool").symlink_to(tmp_path / "elsewhere" / "node_modules" / "tool")
    (modules / ".bin" / "tool").symlink_to("../tool/bin/tool")
    links = ["node_modules/tool", "node_modules/.bin/tool"]
    assert vouched(shelf, LockFile("", shelf.npm_lock()), links) == set()


def test_a_program_behind_a_link_is_judged_where_it_stands(shelf: Shelf) -> None:
    inner = "node_modules/.pnpm/tool@1.0.0/node_modules/tool"
    lock = LockFile("", pnpm(shelf.lock("node_modules/tool", TOOL)).replace("pad@", "tool@"))
    modules = shelf.project / "node_modules"
    paths = shelf.install(inner, TOOL)
    (modules / "tool").symlink_to(".pnpm/tool@1.0.0/node_modules/tool")
    (modules / ".bin").mkdir()
    script = modules / ".bin" / "tool"
    text = SCRIPT.replace("HERE", str(shelf.project)).replace("tool.js", "tool")
    script.write_text(text, "utf-8")
    name = "node_modules/.bin/tool"
    assert vouched(shelf, lock, [*paths, name]) == {*paths, name}
    (shelf.project / inner / "bin" / "tool").write_text("mine\n", "utf-8")
    assert name not in vouched(shelf, lock, [*paths, name])


def test_only_what_is_locked_is_asked_for(shelf: Shelf) -> None:
    digest = integrity(packed(PAD))
    paths = [*shelf.install(PLACE, PAD), *shelf.install("node_modules/evil", PAD)]
    lock = LockFile("", yarn(digest))
    vouching = Vouching(shelf.project, [lock], Archives([shelf.cache]), set(paths).__contains__)
    assert vouching.missing(paths) == ["pad@1.0.0"]


@pytest.mark.parametrize("manifest", ["[" * 100_000, '{"name": "pad"}' + " " * 20_000_000, "[]"])
def test_a_manifest_that_is_none_says_nothing(manifest: str, shelf: Shelf) -> None:
    paths = shelf.install(PLACE, {"package.json": manifest})
    lock = LockFile("", yarn(integrity(packed(PAD))))
    vouching = Vouching(shelf.project, [lock], Archives([]), set(paths).__contains__)
    assert vouching.missing(paths) == []


@pytest.mark.parametrize("text", ["{", "{" + '"packages": {' * 100_000, '{"packages": [1]}'])
def test_a_lock_file_that_is_none_says_nothing(text: str, shelf: Shelf) -> None:
    assert vouched(shelf, LockFile("", text), shelf.install(PLACE, PAD)) == set()


def test_a_pipe_in_the_place_of_a_manifest_holds_nobody_up(shelf: Shelf) -> None:
    (shelf.project / PLACE).mkdir(parents=True)
    os.mkfifo(shelf.project / PLACE / "package.json")
    lock = LockFile("", yarn(integrity(packed(PAD))))
    vouching = Vouching(shelf.project, [lock], Archives([]), lambda _: True)
    assert vouching.missing([f"{PLACE}/index.js"]) == []


def test_an_archive_of_the_users_own_vouches_by_its_digest(shelf: Shelf) -> None:
    archive = shelf.project / "pad-1.0.0.tgz"
    archive.write_bytes(packed(PAD))
    text = yarn(integrity(archive.read_bytes())).replace("x/pad", "file:pad")
    lock = LockFile("", text)
    assert lock.local_archives() == ["pad-1.0.0.tgz"]
    paths = shelf.install(PLACE, PAD)
    archives = Archives([], [archive])
    assert Vouching(shelf.project, [lock], archives, paths.__contains__).vouched(paths) == set(
        paths
    )


def test_a_broken_or_bottomless_archive_vouches_for_nothing(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        member = tarfile.TarInfo("package/index.js")
        member.size = 5_000_000
        archive.addfile(member, io.BytesIO(bytes(member.size)))
    single = tmp_path / "x.tgz"
    paths = shelf.install(PLACE, PAD)
    for data in (b"no archive", made.getvalue()[:-2000], made.getvalue()):
        single.write_bytes(data)
        lock = LockFile("", yarn(integrity(data)))
        monkeypatch.setattr("retrai_goals_js.installed.archives.MAX_UNPACKED_BYTES", 1_000_000)
        archives = Archives([], [single])
        vouching = Vouching(shelf.project, [lock], archives, paths.__contains__)
        assert vouching.vouched(paths) == set()
