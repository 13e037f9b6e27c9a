"""Where a control group is made: on a tree of files with the kernel's names and formats.

The kernel's own answers (limits that bind, members that are refused) are in test_exhaustion.py,
under whichever version this machine has.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from retrai_sandbox_bwrap import cgroup

FILES = {
    "pids": {"pids.max": "max\n"},
    "memory": {"memory.max": "max\n", "memory.swap.max": "max\n", "memory.events": "oom_kill 0\n"},
    "cpu": {"cpu.weight": "100\n"},
}


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty /sys/fs/cgroup in which a new folder gets files as the kernel makes them."""
    root = tmp_path / "cgroup"
    root.mkdir()
    monkeypatch.setattr(cgroup, "_ROOT", root)
    monkeypatch.setattr(cgroup, "_MEMBERSHIP", tmp_path / "membership")
    monkeypatch.setattr(Path, "mkdir", _made_by_the_kernel)
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)
    return root


def _made_by_the_kernel(folder: Path) -> None:
    os.mkdir(folder)
    parent = folder.parent
    kind = "domain"
    if (parent / "cgroup.type").exists():  # of all but the root
        if (parent / "cgroup.type").read_text() != "domain\n":
            kind = "domain invalid"
        if (parent / "cgroup.procs").read_text():
            return fill(folder, [], kind=kind)  # a group with members hands nothing down
    handed = (parent / "cgroup.subtree_control").read_text().replace("+", "").split()
    return fill(folder, handed, kind=kind)


def fill(folder: Path, offered: list[str], *, kind="", handed="", members="") -> None:
    """The files of a group of version 2; the root has no `cgroup.type`."""
    folder.joinpath("cgroup.controllers").write_text(" ".join(offered) + "\n")
    folder.joinpath("cgroup.subtree_control").write_text(handed)
    folder.joinpath("cgroup.procs").write_text(members)
    if kind:
        folder.joinpath("cgroup.type").write_text(f"{kind}\n")
        for controller in offered:
            for name, text in FILES[controller].items():
                folder.joinpath(name).write_text(text)


def belongs(root: Path, *lines: str) -> None:
    """What /proc/self/cgroup says."""
    (root.parent / "membership").write_text("".join(f"{line}\n" for line in lines))


def test_beside_a_group_with_members(root):
    slice_, scope = root / "user.slice", root / "user.slice" / "session-1.scope"
    os.makedirs(scope)
    fill(root, ["cpu", "memory", "pids"], members="1\n")
    fill(slice_, ["cpu", "memory", "pids"], kind="domain", handed="cpu memory pids\n")
    fill(scope, ["cpu", "memory", "pids"], kind="domain", members="17\n")
    belongs(root, "0::/user.slice/session-1.scope")
    group = cgroup.make_group(1, 40, 5000)
    assert [folder.parent for folder in group.folders] == [slice_]
    assert group.binds == {"pids", "memory"}
    assert (group.folders[0] / "pids.max").read_text().startswith("40")
    assert not [path for path in scope.iterdir() if path.is_dir()]
    group.remove()
    assert not list(slice_.glob("retrai-*"))


def test_below_the_root_which_has_members_too(root):
    fill(root, ["pids"], members="1\n17\n")
    belongs(root, "0::/")
    group = cgroup.make_group(1, 40, 5000)
    assert [folder.parent for folder in group.folders] == [root]
    assert group.binds == {"pids"}


def test_none_in_a_container_whose_root_is_another_s_group(root):
    fill(root, ["memory", "pids"], kind="domain", members="1\n17\n")
    belongs(root, "0::/")
    group = cgroup.make_group(1, 40, 5000)
    assert (group.folders, group.binds, group.joins) == ([], set(), [])


def test_none_in_a_tree_of_threads(root):
    fill(root, ["pids"], kind="domain threaded", handed="pids\n")
    os.mkdir(root / "a")
    fill(root / "a", ["pids"], kind="threaded", members="17\n")
    belongs(root, "0::/a")
    group = cgroup.make_group(1, 40, 5000)
    assert (group.folders, group.binds) == ([], set())
    assert not list(root.glob("**/retrai-*"))


def test_version_1_and_an_empty_version_2_beside_it(root):
    for name in ("unified", "pids", "memory", "cpu,cpuacct"):
        os.mkdir(root / name)
    fill(root / "unified", ["hugetlb"], members="1\n")
    (root / "cpu").symlink_to("cpu,cpuacct")
    assert cgroup._own_places() == {}
    belongs(root, "9:pids:/", "8:memory:/gone", "4:cpu,cpuacct:/", "1:name=systemd:/", "0::/")
    assert cgroup._own_places() == {
        "": root / "unified",
        "pids": root / "pids",
        "cpu": root / "cpu,cpuacct",
        "cpuacct": root / "cpu,cpuacct",
    }


def test_memory_kills_are_counted_under_both_versions(root):
    for name, text in {
        "memory.events": "low 0\nmax 3\noom 1\noom_kill 2\noom_group_kill 0\n",
        "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n",
    }.items():
        folder = root / name.partition(".")[2]
        os.mkdir(folder)
        (folder / name).write_text(text)
        group = cgroup.ControlGroup(folders=[folder])
        assert group.memory_kills() == (2 if name == "memory.events" else 5)
