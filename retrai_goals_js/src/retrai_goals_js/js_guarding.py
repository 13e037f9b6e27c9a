"""What a JavaScript project's tests rely on, and who of the installed packages runs them."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

TESTS = [
    "*.test.*",
    "*.spec.*",
    "*-test.*js",
    "*_test.*s",
    "test-*.*js",
    "__tests__/",
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


PROTECTED = list(dict.fromkeys([*TESTS, *CONFIGURATION, *STEERING]))
"""Gitignore globs of tests, snapshots, a runner's configuration, lock files, package.json."""


def installed_fingerprint(*folders: Path) -> str:
    """A digest of names and change times of what is installed, without opening anything."""
    seen = hashlib.sha256()
    for modules in (folder / "node_modules" for folder in folders):
        # Caches of runners lie there too (`.vite`, `.cache`); `.bin` starts programs.
        names = os.listdir(modules) if modules.is_dir() else []
        for name in sorted(name for name in names if name[0] != "." or name == ".bin"):
            with suppress(OSError):  # removed since it was listed
                seen.update(f"{name}:{(modules / name).lstat().st_mtime_ns},".encode())
    return seen.hexdigest()[:24]
