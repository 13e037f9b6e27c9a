"""What of a home folder commands may read: where tool chains live, and nothing that is a secret."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

TOOL_CHAINS = (
    # Python
    ".pyenv",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/pipx",
    ".local/share/uv",
    ".conda",
    "anaconda3",
    "mambaforge",
    "miniconda3",
    "miniforge3",
    # Rust, Go
    ".cargo",
    ".rustup",
    ".local/go",
    "go",
    "sdk",
    # JavaScript
    ".bun",
    ".deno",
    ".fnm",
    ".local/share/fnm",
    ".local/share/pnpm",
    ".nvm",
    ".volta",
    # others
    ".asdf",
    ".elan",
    ".ghcup",
    ".goenv",
    ".juliaup",
    ".local/share/mise",
    ".m2",
    ".nodenv",
    ".rbenv",
    ".sdkman",
)
"""Folders of a home that programs of a tool chain live in."""

SHARED_CACHES = (
    ".cache/huggingface",
    ".cache/ms-playwright",
    ".cache/pre-commit",
    ".cache/torch",
    ".keras",
    "nltk_data",
    "scikit_learn_data",
)
"""Downloads that a suite may rely on."""

SETTINGS = (
    ".config/git/attributes",
    ".config/git/config",
    ".config/git/ignore",
    ".config/pip/pip.conf",
    ".gitconfig",
    ".npmrc",
    ".pip/pip.conf",
)
"""Settings of tools, shown when they look harmless: a suite may rely on them (a git identity)."""

CREDENTIALS = (
    ".anthropic",
    ".aws",
    ".azure",
    ".bash_history",
    ".boto",
    ".cache/huggingface/stored_tokens",
    ".cache/huggingface/token",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude",
    ".claude.json",
    ".codex",
    ".config/anthropic",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/openai",
    ".config/pypoetry/auth.toml",
    ".config/rclone",
    ".config/retrai",
    ".docker",
    ".gem/credentials",
    ".git-credentials",
    ".config/git/credentials",
    ".gnupg",
    ".gradle/gradle.properties",
    ".huggingface",
    ".kaggle",
    ".kube",
    ".local/share/keyrings",
    ".local/share/uv/credentials",
    ".local/state/retrai",
    ".m2/settings-security.xml",
    ".m2/settings.xml",
    ".mozilla",
    ".my.cnf",
    ".netrc",
    ".nuget/NuGet/NuGet.Config",
    ".oci",
    ".openai",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".python_history",
    ".s3cfg",
    ".ssh",
    ".terraform.d",
    ".vault-token",
    ".yarnrc.yml",
    ".zsh_history",
)
"""Hidden also where the folder around them is shown (a tool chain, or the home as the project)."""

MAY_HOLD_SECRETS = (*SETTINGS, ".cargo/config", ".cargo/config.toml")
"""Hidden when their text looks like it."""

_SECRET = re.compile(
    rb"token|passw|_auth|secret|extraheader|credential|[a-z+]+://[^\s/\"']+@", re.IGNORECASE
)


def shown_of_home(home: Path) -> Iterator[Path]:
    """Tool chains, downloads, and harmless settings that are there."""
    for name in (*TOOL_CHAINS, *SHARED_CACHES):
        if os.path.exists(home / name):
            yield home / name
    for name in SETTINGS:
        path = home / name
        if os.path.isfile(path) and not holds_secrets(path):
            yield path


def secrets_of_home(home: Path) -> Iterator[Path]:
    """Credentials that are there."""
    for name in CREDENTIALS:
        if os.path.exists(home / name):
            yield home / name
    for name in MAY_HOLD_SECRETS:
        path = home / name
        if os.path.isfile(path) and holds_secrets(path):
            yield path


def holds_secrets(path: Path) -> bool:
    """Whether a settings file has a line that looks like a key; what is unreadable has."""
    try:
        return _SECRET.search(path.read_bytes()) is not None
    except OSError:
        return True
