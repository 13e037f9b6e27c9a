"""What a question finds."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from retrai_codeindex import Index
from retrai_codeindex.tokens import Tokenizer

DATA = Path(__file__).parents[2] / ".." / "shared" / "data" / "coderag"
LIBRARY = Path(ast.__file__).parent


def test_identifiers_are_found_by_their_parts_and_as_a_whole() -> None:
    tokens = Tokenizer().tokens("getFileName HTTPServer parse_2nd_line __init__")
    assert tokens == [
        *("get", "file", "name", "=getfilename", "http", "server", "=httpserver"),
        *("pars", "2", "nd", "line", "=parse_2nd_line", "init"),
    ]


def test_words_that_are_written_together_are_found_by_each() -> None:
    assert Tokenizer().tokens("rmtree ismethod parameter") == [
        *("rmtree", "rm", "tree", "ismethod", "method", "paramet"),
    ]
    assert Tokenizer().parts("is_rmtree") == ("is", "rm", "tree")


def test_words_find_a_definition_by_its_name_and_definitions_come_before_uses(project) -> None:
    project.write("a.py", "def read_config(path):\n    return open(path).read()\n")
    project.write("b.py", "def main():\n    read_config('a')\n    read_config('b')\n")

    assert project.symbols("read the configuration")[0] == "read_config"
    assert project.symbols("read_config")[0] == "read_config"
    assert project.symbols("readConfig")[0] == "read_config"


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("delete a whole tree", "rmtree"),
        ("the quota of a mailbox", "getquota"),
        ("whether something is a directory", "is_dir"),
        ("the number of items", "count_elements"),
        ("return the current state", "get_state"),
    ],
)
def test_words_find_names_that_are_written_together_or_abbreviated(
    project, question: str, name: str
) -> None:
    names = ("rmtree", "getquota", "is_dir", "count_elements", "get_state", "set_state", "isfile")
    project.write("a.py", "\n".join(f"def {each}(x):\n    return x.y\n" for each in names))

    assert project.symbols(question)[0] == name


def test_the_definition_comes_first_for_its_own_name(project) -> None:
    uses = "".join(f"def load_{n}():\n    return Schema.load(Schema())\n" for n in range(30))
    project.write("a.py", f"class Schema:\n    def load(self):\n        pass\n\n{uses}")

    assert project.symbols("Schema")[0] == "Schema"
    assert project.symbols("Schema.load")[0] == "Schema.load"
    assert project.symbols("Schema::load()")[0] == "Schema.load"


def test_a_hit_has_its_lines_signature_and_docstring(project) -> None:
    project.write(
        "a.py", '\n@cache\ndef half(x: int) -> int:\n    """Half of it."""\n    return x\n'
    )

    hit = project.index.search("half")[0]
    assert (hit.path, hit.start_line, hit.end_line, hit.kind) == ("a.py", 2, 5, "function")
    assert (hit.signature, hit.doc) == ("def half(x: int) -> int", "Half of it.")


def test_text_is_found_by_blocks(project) -> None:
    text = "".join(f"line {n}\n" for n in range(100)) + "the zebra is here\n"
    project.write("notes.md", text)

    hit = project.index.search("zebra")[0]
    assert hit.path == "notes.md"
    assert hit.start_line <= 101 == hit.end_line  # the file has no line behind that


@pytest.mark.parametrize(
    "query", ["", "the of a", "(){}", "\0", "x" * 10_000, "word " * 2_000, "\ud800"]
)
def test_a_question_of_nothing_or_of_everything_is_answered(project, query: str) -> None:
    project.write("a.py", "def word():\n    pass\n")

    found = project.symbols(query)
    assert found == (["word"] if "word" in query else [])


def test_stop_words_alone_find_code_that_is_called_so(project) -> None:
    project.write("a.py", "def when():\n    pass\n")

    assert project.symbols("when")[:1] == ["when"]


@pytest.mark.skipif(not DATA.is_dir(), reason="no questions in ../shared/data")
def test_docstrings_find_the_functions_that_they_described(tmp_path: Path) -> None:
    """On a part of the library that every Python has; `benchmarks/codeindex.py` has the whole."""
    names = ("mailbox", "calendar", "threading", "tarfile", "doctest", "pathlib", "statistics")
    for name in names:
        text = LIBRARY / f"{name}.py"
        if text.is_file():
            (tmp_path / text.name).write_text(without_docstrings(text.read_text("utf-8")), "utf-8")
    found = total = 0
    with Index.open(tmp_path, path=tmp_path.parent / "index.sqlite", jobs=1) as index:
        for line in (DATA / "stdlib_queries_dev.jsonl").read_text().splitlines():
            query = json.loads(line)
            if not (tmp_path / query["file"]).is_file():
                continue
            total += 1
            hits = [(hit.path, hit.symbol) for hit in index.search(query["query"])]
            found += (query["file"], query["qualname"]) in hits
    assert found > total / 2


def without_docstrings(text: str) -> str:
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                for number in range(first.lineno, (first.end_lineno or 0) + 1):
                    lines[number - 1] = ""
                lines[first.lineno - 1] = " " * first.col_offset + "pass"
    return "\n".join(lines)


def test_numbers_that_may_be_asked_for_are_words(project) -> None:
    project.write("web.py", "def fetch(url):\n    return 404\n\n\ndef other():\n    return 1\n")
    project.write("notes.md", "# Standards\n\nTokens follow RFC 7519.\n")

    assert project.symbols("what answers with 404") == ["fetch"]
    assert [hit.path for hit in project.index.search("7519")] == ["notes.md"]
    assert Tokenizer().tokens("1 12345678 8080") == ["8080"]
    assert Tokenizer().tokens("3rd_party 2fa") == ["rd", "parti", "=rd_party", "fa"]
