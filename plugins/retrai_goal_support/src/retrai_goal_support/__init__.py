"""What goals, tools and memory stores have in common, for plugins that want to build on it.

The names below are public, as those of `retrai_core` are; everything else is private.
"""

from __future__ import annotations

from retrai_core import temporary_prefix

from .audits import LOOKS_FOR_RETRAI, Trick, audit_lines, changed_lines
from .folders import without_files
from .lessons import insight_lines, prompt_line, what_worked
from .options import FolderOptions, ProjectFile, ShellWords, globs_below, missing_folder
from .results import code_result, shorten, suite_result
from .saved_model import SavedModel

__all__ = [
    "LOOKS_FOR_RETRAI",
    "FolderOptions",
    "ProjectFile",
    "SavedModel",
    "ShellWords",
    "Trick",
    "audit_lines",
    "changed_lines",
    "code_result",
    "globs_below",
    "insight_lines",
    "missing_folder",
    "prompt_line",
    "shorten",
    "suite_result",
    "temporary_prefix",
    "what_worked",
    "without_files",
]
