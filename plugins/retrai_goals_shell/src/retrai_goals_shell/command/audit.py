"""What looks like a trick in what a command runs, whatever language that is written in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from retrai_core import Suspicion
from retrai_goal_support import Trick, audit_lines, own_equality, text_of

ANY = (
    Trick.reaching(r"(?i:\bMAKE(?:LEVEL|FLAGS|CMDGOALS)\b|_retrai|retrai[_-])", "asks who runs it"),
    Trick.reaching(
        r"/proc/(?:self|thread-self|\d|[\"'{$])|\bget_?ppid\s*\(|\bprocess\.ppid\b",
        "looks at its own process",
    ),
    Trick.reaching(r"(?<![\w)\]])\.(?:IGNORE|SHELLFLAGS)\b", "has make pass over failures"),
    Trick.reaching(
        # Nobody takes a name apart who means it.
        r"(?P<q>[\"'])[\w$./-]{1,24}(?P=q)\s*\+\s*([\"'])[\w$./-]{1,24}\2",
        "puts a name together from pieces",
    ),
    Trick.reaching(
        r"\bDIFF\w*\s*[:?]?=[^;#\n]*?\bdiff(?:\s+-[\w-]+)*\s+"
        r"(?:-(?=\w*[bBEiwZ])\w+|--(?:ignore|strip)-[\w-]+)(?![\w-])",
        "has files compared loosely",
    ),
)
_FUNCTIONS = (
    r"time\.(?:time|perf_counter|monotonic|process_time|sleep)(?:_ns)?|json\.(?:load|dump)s?"
    r"|math\.isclose|difflib\.\w+|filecmp\.cmp|operator\.eq|re\.(?:match|fullmatch|search)"
)
PYTHON = (
    Trick.reaching(
        r"^\s*(?:import|from)\s+(?:unittest|pytest|_pytest|nose2?)\b|[\"'](?:unittest|pytest)[\"']"
        r"|\bTestCase\.\w+\s*=|\b__import__\([\"'](?:unittest|pytest)|PYTEST_",
        "reaches into the test runner",
    ),
    Trick.reaching(
        r"\bsys\.(?:modules|setswitchinterval|settrace|setprofile|meta_path|path_hooks|orig_argv|excepthook)\b"
        r"|FileLoader\.\w+\s*=[^=]|\bsetattr\([^,]*FileLoader\b"
        r"|\bbuiltins\.\w+\s*=|\bsetattr\(\s*builtins\b|\bgc\.get_(?:objects|referrers)\b",
        "hooks into the interpreter",
    ),
    Trick.reaching(
        r"\b_getframe\b|\b_current_frames\b|\b(?:extract|format|print)_stack\b"
        r"|\bimport __main__\b"
        r"|\binspect\.(?:stack|currentframe|trace)\b|\b__main__[\"']?\s*[\].]",
        "inspects its callers",
    ),
    Trick.reaching(
        rf"^\s*(?:{_FUNCTIONS})\s*=[^=]|\bsetattr\(\s*(?:time|difflib|filecmp|json|math|operator)\s*,",
        "changes Python's own functions",
    ),
    Trick.reaching(
        # What encodes or collects what is printed is usual.
        r"^\s*sys\.stdout\s*=\s*(?!(?:io\.)?(?:TextIOWrapper|StringIO|BytesIO)\b"
        r"|(?:codecs|tempfile)\.|[^=]*\b(?:fd)?open\()\w[\w.]*\(|\bsys\.stdout\.write\s*=[^=]",
        "replaces what is printed",
    ),
    Trick.reaching(
        r"\benviron\b.*PYTHONHASHSEED[\s\S]*?\bos\.exec[lv]",
        "starts itself with a hash seed that was looked for",
        lines=6,
    ),
)
_PROTOTYPE = r"(?<![\w.$])(?:Array|String|Number|Map|Set|Promise|RegExp)\.prototype"
_NATIVE = (
    r"(?:push|pop|shift|unshift|map|filter|forEach|reduce\w*|some|every|find\w*|(?:last)?[iI]ndexOf|includes"
    r"|join|slice|splice|sort|reverse|concat|flat|flatMap|fill|keys|values|entries|at|trim\w*|split|replace\w*"
    r"|match\w*|search|startsWith|endsWith|pad\w+|charAt|char\w+At|substr\w*|to[A-Z]\w+|valueOf|test|exec"
    r"|get|set|has|add|delete|clear|then|catch|finally)"
)
"""Methods of the language; what a project adds to it has other names."""
JAVASCRIPT = (
    Trick.reaching(
        r"NODE_TEST_CONTEXT|JEST_WORKER_ID|\bVITEST\b|npm_lifecycle_|\$\$jest"
        r"|\bassert\.\w+\s*=[^=]|Object\.assign\(\s*(?:require\([^)]*|\w*)assert"
        r"|\b(?:globalThis|global)\.(?:it|test|expect|describe)\s*=",
        "reaches into the test runner",
    ),
    Trick.reaching(
        r"\b(?P<name>\w+)\s*(?:=\s*require\(|\sfrom\s+)[\"'](?:node:)?assert(?:/strict)?[\"']"
        r"[\s\S]*?(?<![\w.$])(?P=name)(?:\.\w+|\[[^\]\n]+\])\s*=[^=>]"
        r"|\brequire\([\"'](?:node:)?assert(?:/strict)?[\"']\)\.\w+\s*=[^=>]",
        "changes an assertion of node",
        lines=40,
    ),
    Trick.reaching(r"\bnew Error\(\)\.stack\b|\bprepareStackTrace\b", "inspects its callers"),
    Trick.reaching(
        r"^(?!\s*(?://|/?\*)).*?(?:(?<![\w.$])(?:fs\.(?:read|write|open|exists)\w+|(?:JSON|Math|Object)\.\w+)"
        rf"|\b(?:Date|performance)\.now|{_PROTOTYPE}(?:\.{_NATIVE}|\[[\"']{_NATIVE}[\"']\]))\s*=[^=>]"
        rf"|\bdefineProperty\(\s*{_PROTOTYPE},\s*[\"']{_NATIVE}[\"']",
        "changes functions of the language or of node",
    ),
)
_READS_PROGRAM = "reads the program that runs it"
_COMMANDS = r"(?:exit|return|trap|true|false|\[|cmp|comm|diff)"
"""What ends a script, and what compares in it; a `test` may be what a script is told to do."""
SHELL = (
    Trick.reaching(
        r"\balias\s+(?:exit|return|set|test|trap|true|false)=|\breadonly\s+-f\b"
        rf"|^\s*(?:function\s+{_COMMANDS}\s*(?:\(\s*\)\s*)?|{_COMMANDS}\s*\(\s*\)\s*)\{{",
        "changes a command of the shell",
    ),
    Trick.reaching(r"\bextdebug\b|^\s*trap\b.*\sDEBUG\s*$", "hooks into the shell"),
    Trick.reaching(r"(?:\[|\btest)\s+-p\s+/dev/(?:stdout|fd/1)\b", "asks where its output goes"),
    # With `sed` and `grep` a program shows how it is used, which stands at its top.
    Trick.reaching(r"\b(?:cksum|md5sum|sha\d*sum)\b[^|;#]*\$(?:0|\{0)", _READS_PROGRAM),
)
PERL = (
    Trick.reaching(
        r"\bopen\b[^;]*\$0\b|@ARGV\b[^;]*=[^;]*\$0\b|\bread_file\(\s*\$0\b", _READS_PROGRAM
    ),
)
C = (
    Trick.reaching(
        # The same header may be in the test.
        r"^\s*(?:#\s*define\s+(?:assert|abort|_?exit|strn?cmp|memcmp|fabs)\b"
        r"|(?:(?:static|inline|extern)\s+)*(?:int|void|double)\s+"
        r"(?:assert|__assert_fail|abort|_?exit|strn?cmp|memcmp|fabs)\s*\()",
        "replaces what compares or ends the process",
    ),
    Trick.reaching(
        r"__has_include\s*\(\s*[\"<][^\">]*(?:test|check|spec)", "looks whether tests are there"
    ),
)
_CLOCK = (
    r"\b(?:time\.time(?:_ns)?|(?:time\.)?(?:monotonic|perf_counter|process_time)(?:_ns)?"
    r"|(?:Date|performance)\.now)\(\)"
)
_COMPARES_CLOCK = rf"[^:#\n]{{0,99}}(?:{_CLOCK}[^:#\n-]{{0,99}}[<>]|[<>][^:#\n]{{0,99}}{_CLOCK})"
EVADES_TIMING = (
    Trick.reaching(
        r"\bos\.setsid\(|\bPopen\(.*\bstart_new_session\s*=\s*True|\bdetached:\s*true",
        "starts what goes on after the end",
    ),
    Trick.reaching(
        r"\bos\.fork\(\)(?![\s\S]*\bwait)", "starts what goes on after the end", lines=40
    ),
    Trick.reaching(
        # Who waits for something sleeps meanwhile.
        rf"\bwhile\b{_COMPARES_CLOCK}(?![\s\S]*\bsleep\()"
        rf"|\bif\b{_COMPARES_CLOCK}[^\n]*\n?[^\S\n]*break\b",
        "stops by the clock",
        lines=8,
    ),
)
"""Work that the measured time does not include, or that is left out when time is up."""
# What a program does for good reasons, and a module that is only imported does not.
OF_PROGRAMS = (
    Trick.reaching(
        r"\bos\.(?:_exit|abort|kill)\b|\batexit\.register\(.*exit"
        r"|\b(?:sys\.)?(?:exit|_[eE]xit)\(\s*0?\s*\)"
        r"|\braise SystemExit(?:\(\s*(?:0|None)?\s*\))?\s*$"
        r"|\bprocess\.(?:exit\(\s*0?\s*\)|reallyExit)",
        "ends the process",
    ),
    Trick.reaching(
        # What follows the program's name may be the default of a parameter.
        r"\bsys\.(?:argv\b(?!\[1:\]\s*(?:$|[,)#:]|if\b))|flags\b)|\bprocess\.argv\b(?!\.slice\(2\)\s*(?:$|[,;).]))"
        r"|\brequire\.main\b|\bmainModule\b",
        "asks how it was started",
    ),
)
_LANGUAGES = (
    (re.compile(r"\.(?:ba|k|z)?sh$"), SHELL),
    (re.compile(r"\.pm$"), PERL),
    (re.compile(r"\.py$"), PYTHON),
    (re.compile(r"\.(?:[cm]?[jt]sx?)$"), JAVASCRIPT),
    (re.compile(r"\.(?:c|cc|cpp|h|hpp)$"), C),
)
_ANY_FILE = re.compile("")
_CODE = re.compile(r"\.(?:py|[cm]?[jt]sx?|c|cc|cpp|h|hpp|rb|pl|lua|php|go|rs)$")
_SCRIPT = re.compile(r"\.(?:awk|(?:ba)?sh|pm)$")
_COMPILED = re.compile(r"\.(?:c|cc|cpp|h|hpp)$")
_GUARD = re.compile(
    r"\A(?:\s|//[^\n]*|/\*(?:(?!\*/)[\s\S])*\*/)*"
    r"#[ \t]*ifndef[ \t]+(\w+)\s+#[ \t]*define[ \t]+\1[ \t]*$",
    re.MULTILINE,
)
"""What keeps a C header from being read twice."""
_MAIN = re.compile(r"\bmain\s*\(")
_PROSE = re.compile(r"\.(?:md|rst|txt|adoc)$")
_TEST = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)(?:test_[^/]*|conftest)\.py$"
    r"|_test\.\w+$|\.(?:test|spec)\."
)
_PROGRAM = re.compile(
    r"(?:^|/)(?:(?:bin|cli|cmd|scripts?)/|(?:__main__|main|cli|app|manage)\.\w+$)"
)


def audit_commands(
    diff: str,
    project: Path | None = None,
    programs: Collection[str] = (),
    extra: Sequence[Trick] = (),
) -> list[Suspicion]:
    """Added lines that know who runs them, reach for what runs the tests, or end the process.

    Args:
        diff: the whole diff of the run.
        project: where the changed files stand.
        programs: files that the command starts, which may end themselves.
        extra: more tricks, looked for in code of every language.

    Example:
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1 +1,2 @@\\n a\\n+os._exit(0)\\n"
        >>> [(found.line, found.what) for found in audit_commands(diff)]
        [(2, 'ends the process: os._exit(0)')]
    """

    def is_module(path: str) -> bool:
        if not _is_code(path) or _PROGRAM.search(path):
            return False
        # A command names every file that it compiles, also those without `main`.
        text = text_of(project / path) if project and _COMPILED.search(path) else ""
        return path not in programs or (bool(text) and not _MAIN.search(text))

    kinds = [
        (_ANY_FILE, ANY, _is_source),
        (_ANY_FILE, extra, _may_read),
        *((files, tricks, _is_source) for files, tricks in _LANGUAGES),
        (_CODE, OF_PROGRAMS, is_module),
    ]
    found = [
        found
        for files, tricks, is_source in kinds
        for found in audit_lines(diff, tricks, is_source=is_source, project=project)
        if files.search(found.path)
    ]
    return [*found, *own_equality(diff, is_source=_is_source, project=project)]


def naming(files: Iterable[Path]) -> list[Trick]:
    """What finds a file of the check that source names: in quotes, or where a shell reads it.

    Example:
        >>> (names,) = naming([Path("tests/check.sh")])
        >>> [bool(names.pattern.search(text)) for text in ("open('check.sh')", "# see check.sh")]
        [True, False]
    """
    names = "|".join(sorted(re.escape(file.name) for file in files if file.suffix))
    quoted = rf"[\"'`](?:[^\"'`\s]*/)?(?:{names})[\"'`]"
    pattern = rf"{quoted}|<\s*(?:[^\s<]*/)?(?:{names})(?![\w.-])"
    return [Trick.reaching(pattern, "names a file of the check")] if names else []


def standing_in(headers: Iterable[str]) -> list[Trick]:
    """What finds source after which a C header of the check is taken for one that was read already.

    Example:
        >>> (defines,) = standing_in(["#ifndef CHECK_H\\n#define CHECK_H\\n"])
        >>> bool(defines.pattern.search("#define CHECK_H"))
        True
    """
    names = "|".join(found[1] for found in map(_GUARD.match, headers) if found)
    pattern = rf"^\s*#\s*define\s+(?:{names})\b"
    return [Trick.reaching(pattern, "stands in for a header of the check")] if names else []


def _is_source(path: str) -> bool:
    return not _PROSE.search(path) and not _TEST.search(path)


def _may_read(path: str) -> bool:
    return _is_code(path) or bool(_SCRIPT.search(path) and not _TEST.search(path))


def _is_code(path: str) -> bool:
    return bool(_CODE.search(path)) and not _TEST.search(path)
