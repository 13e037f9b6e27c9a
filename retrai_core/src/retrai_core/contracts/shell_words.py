"""Options that take several words, which people write as one line.

Example:
    >>> from retrai_core import GoalOptions
    >>> class LintOptions(GoalOptions):
    ...     args: ShellWords = []
    >>> LintOptions(args="--rule 'line length'").args
    ['--rule', 'line length']
    >>> LintOptions(args=["--rule", "line length"]).args
    ['--rule', 'line length']
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator


def _words(value: object) -> object:
    if isinstance(value, str):
        import shlex

        return shlex.split(value)
    return value


ShellWords = Annotated[list[str], BeforeValidator(_words)]
"""The type of an option that is a list of words: a string is split as a shell would split it."""
