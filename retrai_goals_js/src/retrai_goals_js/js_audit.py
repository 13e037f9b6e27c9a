"""What looks like a trick in JavaScript: skipped tests, source that knows of them, bent runners."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from retrai_core import Suspicion
from retrai_goal_support import LOOKS_FOR_RETRAI, Trick, audit_lines, changed_files

_PROSE = r"mdx?|markdown|rst|txt|adoc|json|ya?ml|csv|tsv|dat|log|bin"
_RUNNERS = r"(?:describe|it|test|suite|context|bench)"
_ASKS = "asks whether tests run"
"""What a logger asks too."""
TRICKS = (
    Trick(
        re.compile(
            rf"\b{_RUNNERS}(?:\.\w+)*\.(?:skip|todo|skipIf|runIf|failing|fails)\b|\bx(?:it|test|describe)\("
        ),
        "a new skip",
    ),
    Trick(re.compile(rf"\b{_RUNNERS}(?:\.\w+)*\.only\b|\bf(?:it|describe)\("), "a new `only`"),
    Trick(re.compile(r"@ts-(?:ignore|expect-error|nocheck)|eslint-disable"), "silences a checker"),
    Trick(re.compile(r"(?:istanbul|c8|v8) ignore"), "hides code from coverage"),
    Trick.reaching(
        r"JEST_WORKER_ID|\bVITEST\b|VITEST_|NODE_TEST_CONTEXT|import\.meta\.vitest|__vitest_"
        r"|import\.meta\.env\??\.(?:MODE|TEST)\b|\bBUN_TEST\b"
        r"|\btest_runner\b|\bjest-(?:circus|runner)\b"
        r"|npm_(?:lifecycle_\w+|command|execpath|config_\w+)|\bINIT_CWD\b"
        # A parameter called so is used where its type is asked for.
        r"|\btypeof\s+(?:expect|describe|jest|vi|mocha)\b|\btypeof\s+(it|test)\b(?!.*\b\1\b)",
        _ASKS,
        sign="unproven",
    ),
    Trick.reaching(r"NODE_ENV\b[\s\S]*[\"'`]test[\"'`]", _ASKS, lines=4, sign="unproven"),
    Trick.reaching(
        r"\bvm\.(?:run\w+|Script|compileFunction)\b|\brunIn(?:This|New)?Context\b|\._compile\("
        r"|\bimport\(\s*[\"'`]data:"
        r"|\b(?:eval|Function)\(.*(?:\b(?:process|require|import|global(?:This)?|atob|Buffer)\b"
        r"|fromCharCode|readFile)",
        "runs text as code",
    ),
    Trick.reaching(
        r"/proc/(?:self|thread-self|\d|\$\{|[\"'`])|\bprocess\.ppid\b", "looks at its own process"
    ),
    Trick.reaching(
        r"\bnew Error\([^)]*\)\.stack\b|\bprepareStackTrace\b",
        "inspects its callers",
        sign="unproven",
    ),
    Trick.reaching(
        r"\bmock\??\.(?:resetCalls|mockImplementation\w*)\(|\.mock(?:Clear|Reset)\(",
        "resets a double of the tests",
    ),
    Trick.reaching(r"\bsetUncaughtExceptionCaptureCallback\b", "catches what nobody has caught"),
    Trick.reaching(
        # What is required of a .json file is data.
        rf"\brequire\(\s*[\"'`]\.[^\"'`]*\.(?!json\b)(?:{_PROSE})[\"'`]|\"main\":.*\.(?:{_PROSE})\"",
        "loads code from a file that is no source",
    ),
    Trick.reaching(
        r"\b(?:globalThis|global|window)\s*(?:\.\s*|\[\s*[\"'])(?:expect|it|test|describe|jest|vi|assert)\b"
        r"|from\s+[\"'](?:vitest|@jest/globals|bun:test|node:test|mocha)[\"']"
        r"|require\(\s*[\"'](?:vitest|@jest/globals|jest(?:-\w+)?|expect|node:test|mocha|chai)[\"']"
        r"|\b(?:jest|vi|mock)\.(?:mock|spyOn|fn|module|doMock)\("
        r"|\$\$jest|jest-matchers|expect-global|\bBun\)?\.jest\b",
        "reaches into the test runner",
    ),
    Trick.reaching(
        r"\bexpect\.(?:extend|addSnapshotSerializer)\b|Assertion\.(?:overwrite|add)\w+",
        "changes what assertions do",
    ),
    Trick.reaching(
        # `==` and `+` ask so, and those who mean one value give it for `number` too.
        r"toPrimitive(?:(?![\"'](?:number|string)[\"'])[\s\S])*?\bhint\s*===?\s*[\"']default[\"']"
        r"(?![\s\S]*[\"'](?:number|string)[\"'])",
        "is another value where it is compared",
        lines=4,
        sign="unproven",
    ),
    Trick.reaching(
        r"\bSymbol\.hasInstance\b",
        "decides which objects a class takes for its own",
        sign="unchanged",
    ),
    Trick.reaching(
        r"\brequire\.cache\b|\bModule\._\w+|\bModule\.prototype\b|\brequire\.extensions\b"
        r"|\bNODE_OPTIONS\b|\bregisterHooks\b|\bBun\.plugin\b",
        "changes how modules are loaded",
    ),
    Trick.reaching(r"\bmodule\.register\(", "registers something with a module", sign="unchanged"),
    Trick.reaching(
        r"[\"'`](?:[^\"'`\s]*/)?[\w-][\w.-]*\.(?:test|spec)\.\w+[\"'`]|[\"'`][^\"'`\n]*__tests__/|__snapshots__"
        r"|[\"'`]\.\.?/(?:[^\"'`\s]*/)?(?:tests?|specs?|__mocks__|e2e)/[^\"'`\s]",
        "names a test file",
    ),
    Trick.reaching(
        r"[\"'`]\.(?:test|spec)\.\w+[\"'`]|__tests__(?!/)",
        "knows how tests are named",
        sign="unproven",
    ),
    Trick.reaching(
        r"\bextends Array\b(?:(?!\n\})[\s\S])*?\n\s*(?:async |\*)?"
        r"(?:every|some|includes|(?:last)?[iI]ndexOf|find\w*|forEach|join|\[Symbol\.iterator\])\s*\(",
        "says of a list what it does not hold",
        lines=20,
    ),
    Trick.reaching(
        r"\bfstatSync\((?:1|process\.stdout\.fd)\)\.is(?:FIFO|Socket)\(",
        "asks where its output goes",
        sign="unproven",
    ),
    Trick.reaching(r"\benv\.TZ\s*=[^=]", "changes the time zone of the process", sign="unchanged"),
    Trick.reaching(
        r"\.actual\b.*\.expected\b|\.expected\b.*\.actual\b|\bERR_ASSERTION\b",
        "looks at what an assertion compared",
        sign="unproven",
    ),
    Trick(re.compile(r"\bconsole\.\w+\s*=[^=]"), "replaces the console"),
    # Cases that do not end are missed in the report.
    Trick(re.compile(r"\bprocess\.(?:exit|reallyExit|abort|kill|exitCode)\b"), "ends the process"),
    LOOKS_FOR_RETRAI,
)
_SOURCE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte)$|(?:^|/)package\.json$")
_NO_SOURCE = re.compile(
    rf"\.(?:{_PROSE}|html?|s?css|less|svg|xml|snap|map|lock|toml|sh|bash|py|rb|go|rs|java|c|h|cpp)$"
    r"|(?:^|/)(?:\.[^/]*|[A-Z][A-Z_]*|Makefile|Dockerfile)$"
)
"""Everything else is JavaScript to node, whatever its name ends in."""
_LOADED_FIRST = re.compile(r"(.*(?<!\.d))\.(?:js|jsx|ts|tsx)")
"""What `require("./name")` takes before a folder of that name."""
_INDEX = re.compile(r"index\.(?:js|jsx|ts|tsx|json|node)")
_TEST_PATH = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__|__mocks__|e2e|cypress)/|\.(?:test|spec|stories)\."
    r"|(?:^|/)(?:jest|vite|vitest|playwright|cypress|karma|babel|eslint|rollup|webpack)\.config\."
)


def audit_js(diff: str, project: Path | None = None) -> list[Suspicion]:
    """Added lines that skip tests, silence checkers or reach into the test runner.

    Example:
        >>> diff = "--- a/x.ts\\n+++ b/x.ts\\n@@ -1 +1,2 @@\\n a()\\n+delete require.cache[a]\\n"
        >>> [(found.line, found.reaches_runner) for found in audit_js(diff)]
        [(2, True)]
    """
    found = audit_lines(diff, TRICKS, is_source=_is_source, project=project)
    return [*found, *_in_place_of_folders(diff, project)] if project else found


def _in_place_of_folders(diff: str, project: Path) -> Iterator[Suspicion]:
    """New files that are loaded in the place of a folder's index, which is still there."""
    for path, before, now in changed_files(diff, project):
        name = _LOADED_FIRST.fullmatch(path)
        if name and now and not before and _is_source(path):
            folder = project / name[1]
            if folder.is_dir() and any(_INDEX.fullmatch(each.name) for each in folder.iterdir()):
                what = f"is loaded in the place of {folder.name}/index"
                yield Suspicion(path, 1, what, reaches_runner=True)


def is_test(path: str) -> bool:
    """Whether a relative path is one of a test, its helpers or data, or of what configures them."""
    return bool(_TEST_PATH.search(path))


def _is_source(path: str) -> bool:
    is_known = _SOURCE.search(path) or not _NO_SOURCE.search(path)
    return bool(is_known) and not is_test(path)
