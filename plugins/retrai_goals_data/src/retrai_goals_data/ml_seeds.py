"""Seeds that are written down in a project's scripts: a lucky one is no better model."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from pydantic import Field

from retrai_goal_support import SavedModel, project_files, text_of

_SEED = re.compile(
    r"\b(random_state\s*=\s*|(?:random|torch|numpy|np|tf)(?:\.\w+)?\.(?:manual_|set_)?seed\(\s*"
    r"|(?:RandomState|default_rng|random\.Random)\(\s*)(\d{1,10})\b"
)
MAX_SEED = 2**32 - 1
OTHER_SEEDS = (1_001, 2_003)
"""What is added to a seed to get another one."""


class WrittenSeeds(SavedModel):
    """The seeds that stood in the scripts when the run began, as text."""

    seeds: set[str] = Field(default_factory=set[str])


def seeds_in(folder: Path) -> set[str]:
    """The seeds in the Python files of a folder, as text.

    Args:
        folder: a project or a copy of it.
    """
    texts = map(text_of, _scripts(folder))
    return {found[2] for text in texts for found in _SEED.finditer(text)}


def change_seeds(folder: Path, known: Collection[str], by: int) -> None:
    """Write other seeds in the place of those that are not known, in a copy of the project.

    Args:
        folder: the copy.
        known: seeds that stay.
        by: what is added to each.
    """
    for path in _scripts(folder):
        with suppress(UnicodeDecodeError):
            text = path.read_text("utf-8")
            other = with_other_seeds(text, known, by)
            if other != text:
                path.write_text(other, "utf-8")


def with_other_seeds(text: str, known: Collection[str], by: int) -> str:
    """A script with other seeds in the place of those that are not known.

    Example:
        >>> with_other_seeds("split(x, random_state=42); np.random.seed(0)", {"0"}, 7)
        'split(x, random_state=49); np.random.seed(0)'
    """

    def other(found: re.Match[str]) -> str:
        number = found[2] if found[2] in known else str((int(found[2]) + by) % MAX_SEED)
        return f"{found[1]}{number}"

    return _SEED.sub(other, text)


def _scripts(folder: Path) -> list[Path]:
    files = (folder / name for name in project_files(folder) if name.endswith(".py"))
    return [path for path in files if not path.is_symlink()]
