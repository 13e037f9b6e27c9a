"""What goals, tools and memory stores have in common, for plugins that want to build on it.

The names below are public, as those of `retrai_core` are; everything else is private.
"""

from __future__ import annotations

from retrai_core import fresh_folder, temporary_prefix, without_files

from .audits import (
    LOOKS_FOR_RETRAI,
    Trick,
    audit_lines,
    changed_files,
    changed_lines,
    new_tricks,
    own_equality,
)
from .contradictions import (
    LITERAL,
    ExactForms,
    contradict_suite,
    contradiction_of,
    is_one_expression,
)
from .folders import bytes_of, project_files, text_of
from .lessons import insight_lines, prompt_line, what_worked
from .options import FolderOptions, ProjectFile, ShellWords, globs_below, missing_folder
from .python_calls import CALL_RECORDER_FILES, PythonCalls, python_recorder, replay_python_calls
from .replays import json_lines, play_calls
from .results import Failure, code_result, render_failures, shorten, suite_result
from .saved_model import SavedModel
from .source_functions import PythonFunction, python_functions

__all__ = [
    "CALL_RECORDER_FILES",
    "LITERAL",
    "LOOKS_FOR_RETRAI",
    "ExactForms",
    "Failure",
    "FolderOptions",
    "ProjectFile",
    "PythonCalls",
    "PythonFunction",
    "SavedModel",
    "ShellWords",
    "Trick",
    "audit_lines",
    "bytes_of",
    "changed_files",
    "changed_lines",
    "code_result",
    "contradict_suite",
    "contradiction_of",
    "fresh_folder",
    "globs_below",
    "insight_lines",
    "is_one_expression",
    "json_lines",
    "missing_folder",
    "new_tricks",
    "own_equality",
    "play_calls",
    "project_files",
    "prompt_line",
    "python_functions",
    "python_recorder",
    "render_failures",
    "replay_python_calls",
    "shorten",
    "suite_result",
    "temporary_prefix",
    "text_of",
    "what_worked",
    "without_files",
]
