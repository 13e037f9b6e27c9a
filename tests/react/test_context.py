"""What the model reads: in which order, how much of it, and what is left out."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path
from typing import Any

import pytest

from retrai_react import vectors
from retrai_react.tokens import TokenCounter

from .wire import Service, acted, observed, turn


@pytest.fixture
def files(react: Service) -> Path:
    """Some files in the project."""
    for name in ("a.py", "b.py", "docs/c.md", ".hidden", "many/0.txt"):
        file = react.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"text of {name}\n")
    for number in range(15):
        (react.folder / "many" / f"{number:02}.txt").write_text(f"text {number}\n")
    (react.folder / "binary.bin").write_bytes(b"\0\1\2")
    return react.folder


def pinned(react: Service, **item: Any) -> str:
    answer = react.http.post(f"/api/projects/{react.project}/pins", json=item)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def test_everything_stands_in_its_order(react: Service, files: Path) -> None:
    pin = pinned(react, type="text", text="prices are in cents", title="units")
    step = react.step(
        explicit_context_paths=["a.py"],
        pinned_item_ids_to_include=[pin],
        conversation_history=[turn("user", "earlier words")],
        vector_search_results_to_include=[{"path": "b.py", "content": "found words"}],
        implicit_context={"last_focused_file_path": "docs/c.md"},
    )
    assert step["warnings"] == []
    system, user = (each["content"] for each in react.model.requests[0].messages)
    assert "grep(pattern, path='.')" in system
    places = [
        user.index(words)
        for words in ("earlier words", "text of a.py", "prices are in cents", "found words")
    ]
    assert places == sorted(places)
    assert user.rstrip().endswith("Where is the price computed?")
    assert "text of docs/c.md" not in user, "there is explicit context"


def test_the_focused_file_is_read_where_there_is_nothing_else(react: Service, files: Path) -> None:
    react.step(implicit_context={"last_focused_file_path": str(files / "docs" / "c.md")})
    assert "# docs/c.md\ntext of docs/c.md" in react.prompt


def test_a_folder_gives_at_most_ten_files(react: Service, files: Path) -> None:
    react.step(explicit_context_paths=["many/"])
    assert react.prompt.count("# many/") == 10
    react.step(explicit_context_paths=["."])
    assert ".hidden" not in react.prompt


def test_mentions_are_explicit_paths_and_leave_the_query(react: Service, files: Path) -> None:
    query = "compare @file:a.py and @folder:docs with @b.py, dear @anna and me@b.org"
    step = react.step(user_query=query)
    for name in ("a.py", "docs/c.md", "b.py"):
        assert f"# {name}\n" in react.prompt
    assert react.prompt.rstrip().endswith("compare and with, dear @anna and me@b.org")
    assert step["updated_conversation_history"][0]["content"] == query


def test_the_last_six_turns_and_the_first_ten_results_are_read(react: Service) -> None:
    history = [turn("user", f"turn-{number}.") for number in range(9)]
    results = [{"filePath": f"f{n}", "text": f"hit-{n}.", "score": n} for n in range(12)]
    react.step(conversation_history=history, vector_search_results_to_include=[*results])
    assert [n for n in range(9) if f"turn-{n}." in react.prompt] == [3, 4, 5, 6, 7, 8]
    assert [n for n in range(12) if f"hit-{n}." in react.prompt] == list(range(2, 12))
    react.step(vector_search_results_to_include=["plain words"])
    assert "plain words" in react.prompt


def words(number: int) -> str:
    return " ".join(["word"] * number)


def test_what_does_not_fit_is_cut_or_left_out(react: Service, files: Path) -> None:
    (files / "large.txt").write_text(words(5_000))
    step = react.step(
        llm={"tokenLimit": 2_000, "reservedOutputTokens": 500},
        explicit_context_paths=["a.py", "large.txt", "b.py"],
        conversation_history=[turn("user", "earlier words")],
    )
    assert "text of a.py" in react.prompt
    assert "[cut]" in react.prompt
    assert 700 < react.prompt.count("word ") < 1_500
    assert "text of b.py" not in react.prompt
    assert "earlier words" not in react.prompt
    assert any("b.py" in line for line in step["warnings"])
    assert TokenCounter.of("openai/gpt-4o").count(react.prompt) <= 1_500


def test_a_small_rest_is_not_filled_with_scraps(react: Service, files: Path) -> None:
    react.step()
    used = TokenCounter.of("openai/gpt-4o").count(react.prompt)
    result = {"path": "x", "content": words(400)}
    for room, is_there in ((60, False), (200, True)):
        llm = {"tokenLimit": used + room, "reservedOutputTokens": 1}
        react.step(llm=llm, vector_search_results_to_include=[result])
        assert ("# x\nword" in react.prompt) is is_there
        assert ("[cut]" in react.prompt) is is_there


def test_a_source_that_fails_is_left_out_with_a_warning(react: Service, files: Path) -> None:
    (files / "loop").symlink_to("loop")
    (files / "round").symlink_to(".")
    (files / "outside").symlink_to("/etc/passwd")
    os.mkfifo(files / "pipe")
    secret = files / "secret.txt"
    secret.write_text("of another user")
    secret.chmod(0)
    bad = ["loop", "pipe", "outside", "/dev/zero", "/etc/passwd", "../x", "gone.py", "a\0b"]
    bad += ["binary.bin"] if os.geteuid() == 0 else ["binary.bin", "secret.txt"]
    step = react.step(explicit_context_paths=[*bad, "a.py", "round"])
    assert step["status"] == "direct_response_provided"
    assert "text of a.py" in react.prompt
    assert "root:" not in react.prompt
    assert len(step["warnings"]) >= len(bad), step["warnings"]
    for name in ("loop", "pipe", "outside", "gone.py"):
        assert any(name in line for line in step["warnings"]), name
    said = (react.served.state / "stderr").read_text()
    assert "explicit path gone.py: left out" in said
    for name in ("loop", "round", "outside", "pipe", "secret.txt"):
        (files / name).unlink()


def test_an_unknown_project_gets_its_step_without_files(react: Service) -> None:
    unknown = str(uuid.uuid4())
    react.model.plays("Answer: all the same")
    step = react.step(project_id=unknown, explicit_context_paths=["shop.py"])
    assert step["direct_response"] == "all the same"
    assert any(unknown in line for line in step["warnings"])
    assert "def price" not in react.prompt


def test_an_unknown_pin_is_a_warning_and_lines_are_read_anew(react: Service, files: Path) -> None:
    pin = pinned(react, type="file", path="shop.py", start_line=2, end_line=2)
    step = react.step(pinned_item_ids_to_include=["none", pin])
    assert "# shop.py:2-2\n    return cents / 100" in react.prompt
    assert "def price" not in react.prompt
    assert ["none" in line for line in step["warnings"]] == [True]


def test_the_project_is_searched_where_an_index_is_installed(react: Service) -> None:
    step = react.step(llm={"vector_search": True})
    assert step["warnings"] == []
    step = react.step(llm={"vector_search": True}, vector_search_results_to_include=["own"])
    assert step["warnings"] == []


def test_without_an_index_the_search_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "find_spec", lambda _: None)
    with pytest.raises(vectors.SearchError, match="pip install retrai-codeindex"):
        vectors.search_project(tmp_path, "price")


def test_a_huge_tools_segment_is_cut_and_its_tools_are_known_all_the_same(react: Service) -> None:
    lines = [
        f"tool_{number}(first, second): does the thing number {number}" for number in range(4_000)
    ]
    segment = "\n".join(lines)
    assert len(segment) > 180_000
    react.model.plays('Action: tool_3999("x")')
    step = react.step(available_tools_prompt_segment=segment)
    assert step["status"] == "direct_response_provided", "at most 2,000 tools are known"
    react.model.plays('Action: tool_1999("x")')
    step = react.step(available_tools_prompt_segment=segment)
    assert step["action_details"]["tool_args"] == {"first": "x"}
    assert any("tools segment was cut" in line for line in step["warnings"])
    assert "Where is the price computed?" in react.prompt


def test_ten_thousand_turns_come_back(react: Service) -> None:
    history: list[dict[str, Any]] = []
    for number in range(5_000):
        history += [acted("grep", {"pattern": str(number)}), observed("nothing" * 20)]
    react.model.plays("Answer: done")
    step = react.step(conversation_history=history)
    assert step["updated_conversation_history"][:10_000] == history
    assert len(json.dumps(history)) > 1_000_000, "more than other routes take"


@pytest.mark.parametrize(
    "llm",
    [
        {"tokenLimit": 60, "reservedOutputTokens": 20},
        {"tokenLimit": 10, "reservedOutputTokens": 99},
    ],
)
def test_a_token_limit_that_is_too_small_is_said(react: Service, llm: dict[str, int]) -> None:
    step = react.step(llm=llm)
    assert step["status"] == "error"
    assert step["error"]["code"] == "TOKEN_LIMIT_TOO_SMALL"
    assert str(llm["tokenLimit"]) in step["error"]["message"]
    assert react.model.requests == []


def test_a_small_limit_gets_a_minimal_prompt(react: Service) -> None:
    react.model.plays("Answer: short")
    step = react.step(llm={"tokenLimit": 200, "reservedOutputTokens": 50})
    assert step["direct_response"] == "short"
    assert any("minimal" in line for line in step["warnings"])
    assert react.prompt.endswith("Where is the price computed?")
