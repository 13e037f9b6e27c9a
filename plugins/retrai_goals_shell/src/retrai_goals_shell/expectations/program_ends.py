"""Makes a program of the check fail wherever it would exit with status 0: where the check passes
all the same, the program did not come so far, or its status is ignored."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from ..edits import Edit, edited
from .in_python import offsets_in, parse_python
from .in_shell import failing_script, script_exits

_LANGUAGES = {
    ".py": "python",
    **dict.fromkeys((".sh", ".bash"), "shell"),
    **dict.fromkeys((".js", ".cjs", ".mjs", ".ts"), "javascript"),
    **dict.fromkeys((".c", ".cc", ".cpp"), "c"),
    **dict.fromkeys((".pl", ".t"), "perl"),
}
_PYTHON_ENDS = re.compile(r"(?:\w+\.)*(?:main|_?exit|quit|exec[lv]\w*)|SystemExit")
_PYTHON_MAY_END = re.compile(r"main\b|exit|quit|exec[lv]|SystemExit")
_UNKNOWN = re.compile(
    r"\b(?:click|typer|fire|absl|serve_forever|createServer|http\.server|socketserver)\b"
    r"|\bexec[lv]\w*\(|\blisten\(|\baccept\("
)
"""What ends a program elsewhere, or runs until somebody ends it."""
_COMMENTS = re.compile(r"(?:#.*\n|\s*\n)*")
_PYTHON_FAILS = 'raise SystemExit("it ends here")'
_JAVASCRIPT_CALL = re.compile(
    r"^(?:await )?(\w+)\([^()\n]*\)(?=\.(?:then|catch)\(|;?$)", re.MULTILINE
)
_FIRST_LINES = re.compile(r"""(?:#!.*\n)?(?:(['"])use strict\1;?\n)?""")
_PERL_DATA = re.compile(r"^__(?:END|DATA)__$", re.MULTILINE)
_UNKNOWN_OF = {
    "javascript": re.compile(
        r"^(?:if\b.*)?return\b|\bexitCode\b|\bprocess\.exit\s*=", re.MULTILINE
    ),
    "perl": re.compile(r"\bexec\b|\$\?\s*="),
}
_C_MAIN = re.compile(r"^(?:int|auto)\s+main\s*\([^)]*\)[^{;]*\{", re.MULTILINE)
_C_RETURNS = re.compile(r"\breturn\b(?!\s*(?:[1-9]\d*|EXIT_FAILURE)\s*;)([^;]+);")
_C_HEADERS = "#include <unistd.h>\n#include <sys/wait.h>\n"
_EXITS = {
    "c": (
        re.compile(r"\b(?:_?exit|_Exit|quick_exit)\s*\((?!\s*(?:[1-9]\d*|EXIT_FAILURE)\s*\))"),
        r"exit(1), \g<0>",
    ),
    "javascript": (re.compile(r"\bprocess\.(?:exit|reallyExit)\((?![1-9]\d*\))"), r"\g<0>1, "),
    "perl": (re.compile(r"\bexit\b(?!\s*\(?\s*[1-9])"), "exit 1 ||"),
}
"""An exit that need not fail, and what fails in its place."""
_WAITS = {
    "c": " if (fork()) { wait(0); _exit(1); }",
    "javascript": """\
;{const p = process; if (p.env.SECOND !== "1") { p.getBuiltinModule("child_process").spawnSync(\
p.execPath, [...p.execArgv, ...p.argv.slice(1)], {stdio: "inherit", env: {...p.env, SECOND: "1"}}\
); p.exit(1); }};
""",
    "perl": "BEGIN { if (fork) { wait; require POSIX; POSIX::_exit(1) } }\n",
    "python": "import os\nif os.fork():\n    os.wait()\n    os._exit(1)\n",
}
"""A second process is the program; the first one waits for it and fails."""


def language_of(name: str) -> str:
    """The language of a program, by its file's suffix; empty for any other."""
    return _LANGUAGES.get(Path(name).suffix, "")


def start_of(name: str, text: str) -> int | None:
    """Where the statements of a program begin; None where that is not known.

    Example:
        >>> start_of("t.sh", "#!/bin/sh\\n./run\\n"), start_of("t.c", "int main(void) { run(); }")
        (10, 16)
    """
    language = language_of(name)
    if language == "python":
        return _start_in_python(text)
    first = _C_MAIN.search(text) if language == "c" else _FIRST_LINES.match(text)
    return first.end() if first and language else None


def failing_at_end(name: str, text: str) -> str:
    """The program, so that it fails wherever it would exit with status 0; empty where that is not
    known.

    Example:
        >>> print(failing_at_end("t.py", "import sys\\nrun()\\nsys.exit(bad > 0)\\n"))
        import sys
        run()
        raise SystemExit("it ends here"); sys.exit(bad > 0)
        <BLANKLINE>
        raise SystemExit("it ends here")
        <BLANKLINE>
    """
    language, start = language_of(name), start_of(name, text)
    if language == "shell":
        return failing_script(text)
    unknown = _UNKNOWN_OF.get(language, _UNKNOWN)
    if start is None or unknown.search(text) or _UNKNOWN.search(text):
        return ""
    exits = exits_in(name, text)
    if language == "python":
        return edited(text, [*exits, (len(text), len(text), f"\n{_PYTHON_FAILS}\n")])
    if language == "javascript":
        ends = [call.end() for call in _JAVASCRIPT_CALL.finditer(text) if _is_async(text, call[1])]
        fails = "\nprocess.exit(1);\n" if not ends else ".then(() => process.exit(1))"
        return edited(text, [*exits, *((end, end, fails) for end in ends or [len(text)])])
    if language == "perl":
        data = _PERL_DATA.search(text)
        end = data.start() if data else len(text)
        code = edited(text[:end], [each for each in exits if each[1] <= end])
        # Documentation may stand open at the end.
        return code + "\n\n=pod\n\n=cut\n\nexit 1;\n" + text[end:]
    closes = text.find("\n}", start)
    if closes == -1:
        return ""
    # What is returned is used still: warnings may be errors.
    returns = [
        (*found.span(), f"return ({found[1]}) ? 1 : 1;")
        for found in _C_RETURNS.finditer(text, start, closes)
    ]
    return edited(text, [*exits, *returns, (closes, closes, "\n  return 1;")])


def exits_in(name: str, text: str) -> list[Edit]:
    """Edits that have every exit of the program fail that need not; in C, but for `main`.

    Example:
        >>> edited("process.exit(bad ? 1 : 0);", exits_in("t.js", "process.exit(bad ? 1 : 0);"))
        'process.exit(1, bad ? 1 : 0);'
    """
    language = language_of(name)
    if language == "shell":
        return script_exits(text)
    if language == "python":
        return _exits_in_python(text) if _PYTHON_MAY_END.search(text) else []
    pattern, fails = _EXITS[language]
    return [(*found.span(), found.expand(fails)) for found in pattern.finditer(text)]


def failing_after_end(name: str, text: str) -> str:
    """The program, so that it fails after it did all that it does: a check that passes then looks
    only at what it does."""
    language, start = language_of(name), start_of(name, text) or 0
    if language == "shell":
        return f"{text[:start]}(\n{text[start:]}\n)\nexit 1\n"
    headers = _C_HEADERS if language == "c" else ""
    return f"{headers}{text[:start]}{_WAITS[language]}{text[start:]}"


def _is_async(text: str, function: str) -> bool:
    return re.search(rf"\basync function {function}\b|\b{function} = async\b", text) is not None


def _start_in_python(text: str) -> int | None:
    """After the documentation and the imports from the future."""
    begins = _COMMENTS.match(text)
    place = begins.end() if begins else 0
    if "__future__" not in text and not re.match(r"\w?[\"']", text[place:]):
        return place
    tree = parse_python(text)
    line = 0
    for node in tree.body if tree else ():
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_future and not is_text:
            break
        line = node.end_lineno or line
    return offsets_in(text)(line + 1, 0) if line else None


def _exits_in_python(text: str) -> list[Edit]:
    tree, offset_of = parse_python(text), offsets_in(text)
    edits: list[Edit] = []
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Expr | ast.Raise | ast.Assign) and _may_end(node):
            place = offset_of(node.lineno, node.col_offset)
            edits.append((place, place, f"{_PYTHON_FAILS}; "))
    return edits


def _may_end(statement: ast.stmt) -> bool:
    """Whether a statement may end the program well."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(args=[ast.Constant(value=value)]) if value:
                continue
            case ast.Call(func=func) if _PYTHON_ENDS.fullmatch(ast.unparse(func)):
                return True
            case ast.Raise(exc=ast.Name(id="SystemExit")):
                return True
            case _:
                pass
    return False
