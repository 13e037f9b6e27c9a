"""What the first prompt shows of a project."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from retrai_core.workspace.key_files import key_files, project_outline, tree_listing
from retrai_core.workspace.safe_paths import SafeWorkspace


def test_key_files_come_in_order_and_leave_out_what_is_no_text(
    project: Path, workspace: SafeWorkspace
) -> None:
    (project / "README.md").write_text("read me")
    (project / "pyproject.toml").write_text("[project]\r\nname = 'x'\r\n")
    (project / "AGENTS.md").write_text("be kind")
    (project / "tox.ini").write_bytes(b"\0\1")
    (project / "Makefile").write_text("  \n")
    (project / "setup.cfg").symlink_to(project.parent / "outside" / "secret")
    (project / "other.md").write_text("no")

    shown = key_files(workspace, 1000)

    assert [name for name, _ in shown] == ["AGENTS.md", "pyproject.toml", "README.md"]
    assert dict(shown)["pyproject.toml"] == "[project]\nname = 'x'\n"


def test_a_long_file_leaves_room_for_the_others(project: Path, workspace: SafeWorkspace) -> None:
    (project / "AGENTS.md").write_text("a" * 10_000)
    (project / "pyproject.toml").write_text("b" * 100)
    (project / "README.rst").write_text("c" * 10_000)

    shown = dict(key_files(workspace, 2000))

    assert sum(len(text) for text in shown.values()) <= 2000
    assert shown["pyproject.toml"] == "b" * 100
    assert shown["AGENTS.md"].startswith("aaa")
    assert "more characters" in shown["AGENTS.md"]
    assert "more characters" in shown["README.rst"]


def test_a_small_tree_is_shown_whole(project: Path, workspace: SafeWorkspace) -> None:
    for name in ("src/shop/cart.py", "src/shop/stock.py", "tests/test_cart.py", "README.md"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("")

    assert tree_listing(workspace).split("\n") == [
        "README.md",
        "src/",
        "  shop/",
        "    cart.py",
        "    stock.py",
        "tests/",
        "  test_cart.py",
    ]


def test_a_large_tree_is_shown_to_the_depth_that_fits(
    project: Path, workspace: SafeWorkspace
) -> None:
    for package in ("a", "b"):
        for number in range(20):
            path = project / package / f"sub{number % 2}" / f"m{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")

    assert tree_listing(workspace, 10).split("\n") == [
        "a/",
        "  sub0/ (10 files)",
        "  sub1/ (10 files)",
        "b/",
        "  sub0/ (10 files)",
        "  sub1/ (10 files)",
    ]
    assert tree_listing(workspace, 3).split("\n") == ["a/ (20 files)", "b/ (20 files)"]


@settings(max_examples=30)
@given(count=st.integers(0, 12), depth=st.integers(0, 3), limit=st.integers(1, 15))
def test_a_listing_keeps_to_its_limit(count: int, depth: int, limit: int) -> None:
    with TemporaryDirectory() as folder:
        for number in range(count):
            path = Path(folder, *[f"d{number % 3}"] * depth, f"f{number}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        text = tree_listing(SafeWorkspace(Path(folder)), limit)
    assert len(text.split("\n")) <= limit


def test_tree_and_key_files_together_keep_to_the_budget(
    project: Path, workspace: SafeWorkspace
) -> None:
    (project / "CLAUDE.md").write_text("Speak plainly. " * 500)
    for number in range(150):
        (project / f"{number}-{'long' * 40}.py").write_text("")

    listing, shown = project_outline(workspace, 1000)

    assert len(listing) + sum(len(text) for _, text in shown) <= 1000 * 4
    assert "more entries" in listing
    assert [name for name, _ in shown] == ["CLAUDE.md"]
