"""What a JavaScript project's tests rely on, and who of the installed packages runs them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from retrai_core import Suspicion

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
    "vitest.projects.*",
    "vitest.setup.*",
    "vite.config.*",
    # Vite loads it at its start, whether there are styles or not.
    "postcss.config.*",
    ".postcssrc*",
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
    "/jsconfig.json",
    # They hold for the tests beside them alone.
    *(
        f"{folder}/**/{name}"
        for folder in ("/test", "/tests", "/spec", "__tests__")
        for name in ("package.json", "tsconfig.json", "jsconfig.json")
    ),
]
RUNNER_PACKAGES = re.compile(
    r"^(?:\.bin|jest(?:-.*)?|@jest|expect|expect-utils|babel-jest|ts-jest|@babel|@swc|react-scripts|"
    r"vitest|@vitest|vite|vite-node|esbuild|@esbuild|rollup|tinypool|tinyspy|chai|sinon|@sinonjs|"
    r"mocha|mocha-.*|c8|nyc|tsx|ts-node|assert|should|bun-types|@types|istanbul-.*)$"
)
"""Packages that run tests or compile for them: what changes there changes the check."""

_CHANGED = "belongs to the test runner and was changed during the run"


def protected_globs() -> list[str]:
    """Gitignore globs of tests, snapshots, a runner's configuration, lock files, package.json."""
    return list(dict.fromkeys([*TESTS, *CONFIGURATION, *STEERING]))


def audit_node_modules(folders: Sequence[Path], since_s: float) -> list[Suspicion]:
    """Files of the runner's packages that were changed since a moment.

    Args:
        folders: in and below which `node_modules` may be.
        since_s: seconds since the epoch.
    """
    found: list[Suspicion] = []
    for modules in dict.fromkeys(path for folder in folders for path in _node_modules(folder)):
        for package in _runner_packages(modules):
            found += [
                Suspicion(str(path), 1, _CHANGED, reaches_runner=True)
                for path in _changed(package, since_s)
            ]
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


def _changed(package: Path, since_s: float) -> Iterator[Path]:
    if package.is_symlink() and _is_newer(package, since_s):
        yield package
    # pnpm's packages are links to where they really stand.
    for base, folders, files in os.walk(package.resolve()):
        folders[:] = [name for name in folders if name not in (".cache", ".vite")]
        links = [name for name in folders if Path(base, name).is_symlink()]
        for name in [*files, *links]:
            path = Path(base, name)
            if _is_newer(path, since_s):
                yield path


def _is_newer(path: Path, since_s: float) -> bool:
    try:
        # The change time cannot be set back, unlike that of the content.
        return path.lstat().st_ctime > since_s
    except OSError:
        return False
