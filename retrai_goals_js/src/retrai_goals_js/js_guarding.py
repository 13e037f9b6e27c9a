"""What a JavaScript project's tests rely on, and what looks like a trick."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from retrai_core import Suspicion, Trick, audit_lines

TESTS = [
    "*.test.*",
    "*.spec.*",
    "*-test.*js",
    "*_test.*s",
    "test-*.*js",
    "__tests__/",
    "__mocks__/",
    "__snapshots__/",
    "*.snap",
    "/test/",
    "/tests/",
    "/spec/",
    "/packages/*/test/",
    "/packages/*/tests/",
    "/test.js",
    "/test.mjs",
    "/test.cjs",
]
CONFIGURATION = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "bun.lock",
    "bun.lockb",
    "tsconfig*.json",
    "jsconfig.json",
    "setupTests.*",
]
STEERING = [
    "jest.config.*",
    "jest-preset.*",
    "jest.setup.*",
    "vitest.config.*",
    "vitest.workspace.*",
    "vitest.setup.*",
    "vite.config.*",
    "babel.config.*",
    ".babelrc*",
    ".swcrc",
    ".mocharc*",
    "/test/mocha.opts",
    "bunfig.toml",
    ".npmrc",
    ".yarnrc*",
    ".pnp.*",
    ".env",
    ".env.*",
    ".nycrc*",
    # Loaded by their name alone: mocks beside node_modules, create-react-app's set-up.
    "__mocks__/",
    "setupTests.*",
    "/tsconfig.json",
]
RUNNER_PACKAGES = re.compile(
    r"^(?:\.bin|jest(?:-.*)?|@jest|expect|expect-utils|babel-jest|ts-jest|@babel|@swc|react-scripts|"
    r"vitest|@vitest|vite|vite-node|esbuild|@esbuild|rollup|tinypool|tinyspy|chai|sinon|@sinonjs|"
    r"mocha|mocha-.*|c8|nyc|tsx|ts-node|assert|should|bun-types|@types|istanbul-.*)$"
)
"""Packages that run tests or compile for them: what changes there changes the check."""

_RUNNERS = r"(?:describe|it|test|suite|context|bench)"
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
    Trick(
        re.compile(
            r"JEST_WORKER_ID|\bVITEST\b|VITEST_|NODE_TEST_CONTEXT|import\.meta\.vitest|__vitest_"
            r"|NODE_ENV\b.*[\"']test[\"']|npm_lifecycle_(?:event|script)|\bBUN_TEST\b"
        ),
        "asks whether tests run",
        reaches_runner=True,
    ),
    Trick(
        re.compile(
            r"\b(?:globalThis|global|window)\s*(?:\.\s*|\[\s*[\"'])(?:expect|it|test|describe|jest|vi|assert)\b"
            r"|\btypeof\s+(?:expect|it|test|describe|jest|vi|mocha)\b"
            r"|from\s+[\"'](?:vitest|@jest/globals|bun:test|node:test|mocha)[\"']"
            r"|require\(\s*[\"'](?:vitest|@jest/globals|jest(?:-\w+)?|expect|node:test|mocha|chai)[\"']"
            r"|\b(?:jest|vi|mock)\.(?:mock|spyOn|fn|module|doMock)\("
        ),
        "reaches into the test runner",
        reaches_runner=True,
    ),
    Trick(
        re.compile(
            r"\bexpect\.(?:extend|addSnapshotSerializer)\b|\bassert\.\w+\s*=[^=]|\bassert\s*=[^=]"
            r"|\bexpect\s*=[^=]|Assertion\.(?:overwrite|add)\w+"
        ),
        "changes what assertions do",
        reaches_runner=True,
    ),
    Trick(
        re.compile(
            r"\brequire\.cache\b|\bModule\._\w+|\bModule\.prototype\b|\brequire\.extensions\b"
            r"|\bNODE_OPTIONS\b|\bregisterHooks\b|module\.register\(|\bBun\.plugin\b"
        ),
        "changes how modules are loaded",
        reaches_runner=True,
    ),
    Trick(
        re.compile(
            r"[\"'`](?:[^\"'`\s]*/)?[\w.-]*\.(?:test|spec)\.\w+[\"'`]|__(?:tests|snapshots)__"
        ),
        "names a test file",
        reaches_runner=True,
    ),
    Trick(
        re.compile(
            r"\bcaptureStackTrace\b|\bprepareStackTrace\b|new Error\([^)]*\)\.stack|\.callee\b"
        ),
        "inspects its callers",
        reaches_runner=True,
    ),
    Trick(
        re.compile(
            r"\b(?:Object|Array|Number|String|Function|Promise|Symbol|Math|JSON|Reflect)\.(?:prototype\.)?\w+\s*=[^=>]"
            r"|defineProperty\(\s*(?:Object|Array|Number|String|Function|globalThis|global)\b"
        ),
        "changes a built-in",
        reaches_runner=True,
    ),
    Trick(re.compile(r"\bconsole\.\w+\s*=[^=]"), "replaces the console"),
    Trick(
        re.compile(r"\basymmetricMatch\b|Symbol\.toPrimitive"),
        "equals more than one value",
        reaches_runner=True,
    ),
    Trick(
        re.compile(r"_retrai|RETRAI_|retrai-node", re.IGNORECASE),
        "looks for retrai",
        reaches_runner=True,
    ),
)
OF_PROGRAMS = (
    Trick(
        re.compile(r"\bprocess\.(?:exit|reallyExit|abort|kill|exitCode)\b|\bDeno\.exit\b"),
        "ends the process",
        reaches_runner=True,
    ),
    Trick(
        re.compile(r"\bprocess\.(?:argv|execArgv)\b|\brequire\.main\b|Bun\.main\b"),
        "asks how it was started",
        reaches_runner=True,
    ),
)
"""What a program does for good reasons, and a module that is tested does not."""
_PROGRAM = re.compile(r"(?:^|/)(?:(?:bin|cli|cmd|scripts?)/|(?:main|cli)\.\w+$)")
_SOURCE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte)$")
_TEST_PATH = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__|__mocks__|e2e|cypress)/|\.(?:test|spec|stories)\.|(?:^|/)\w+\.config\."
)


def protected_globs() -> list[str]:
    """Gitignore globs of tests, snapshots, a runner's configuration, lock files, package.json."""
    return list(dict.fromkeys([*TESTS, *CONFIGURATION, *STEERING]))


def audit_js(diff: str, project: Path | None = None) -> list[Suspicion]:
    """Added lines that skip tests, silence checkers or reach into the test runner.

    Example:
        >>> diff = "--- a/x.ts\\n+++ b/x.ts\\n@@ -1 +1,2 @@\\n a()\\n+process.exit(0)\\n"
        >>> [(found.line, found.reaches_runner) for found in audit_js(diff)]
        [(2, True)]
    """
    found = audit_lines(diff, TRICKS, is_source=_is_source, project=project)
    return found + audit_lines(diff, OF_PROGRAMS, is_source=_is_module, project=project)


def audit_node_modules(folders: Sequence[Path], since_s: float) -> list[Suspicion]:
    """Files of the runner's packages that were changed since a moment, each package once.

    Args:
        folders: in and below which `node_modules` may be.
        since_s: seconds since the epoch.
    """
    found: list[Suspicion] = []
    for modules in dict.fromkeys(path for folder in folders for path in _node_modules(folder)):
        for package in _runner_packages(modules):
            changed = _first_changed(package, since_s)
            if changed is not None:
                what = "belongs to the test runner and was changed during the run"
                found.append(Suspicion(str(changed), 1, what, reaches_runner=True))
    return found


def installed_fingerprint(folder: Path) -> str:
    """Names and change times of what is installed, without opening anything."""
    parts: list[str] = []
    for name, path in _entries(folder / "node_modules"):
        try:
            parts.append(f"{name}:{path.lstat().st_mtime_ns}")
        except OSError:
            continue  # removed since it was listed
    return ",".join(parts)


def _node_modules(folder: Path) -> Iterator[Path]:
    """Every `node_modules` in and below a folder: the nearest one is asked first for a package."""
    for base, folders, _ in os.walk(folder):
        if "node_modules" in folders:
            yield Path(base, "node_modules")
        folders[:] = [name for name in folders if name not in ("node_modules", ".git")]


def _runner_packages(modules: Path) -> Iterator[Path]:
    return (path for name, path in _entries(modules) if RUNNER_PACKAGES.match(name))


def _entries(modules: Path) -> list[tuple[str, Path]]:
    try:
        # Caches of runners lie there too (`.vite`, `.cache`); `.bin` starts programs.
        names = sorted(name for name in os.listdir(modules) if name[0] != "." or name == ".bin")
    except OSError:
        return []
    return [(name, modules / name) for name in names]


def _first_changed(package: Path, since_s: float) -> Path | None:
    for base, folders, files in os.walk(package):
        folders[:] = [name for name in folders if name not in (".cache", ".vite")]
        for name in files:
            path = Path(base, name)
            try:
                # The change time cannot be set back, unlike that of the content.
                if path.lstat().st_ctime > since_s:
                    return path
            except OSError:
                continue
    return None


def _is_source(path: str) -> bool:
    return bool(_SOURCE.search(path)) and not _TEST_PATH.search(path)


def _is_module(path: str) -> bool:
    return _is_source(path) and not _PROGRAM.search(path)
