"""The engines of the core keep the contract of engines, by the kit that strangers use."""

from __future__ import annotations

from retrai_core.runs.inline import InlineEngine
from retrai_core.runs.process import ProcessEngine
from retrai_testkit import EngineConformance


class TestInlineEngine(EngineConformance):
    plugin = InlineEngine


class TestProcessEngine(EngineConformance):
    plugin = ProcessEngine
