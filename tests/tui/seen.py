"""What a person sees of the application."""

from __future__ import annotations

import asyncio
import time
from typing import cast

from textual.pilot import Pilot
from textual.widgets import OptionList, RichLog, Static

from retrai_tui.app import RetraiApp

TIMEOUT_S = 150.0


def screen_text(pilot: Pilot[None]) -> str:
    """The screen as text, line by line."""
    app = cast("RetraiApp", pilot.app)
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


async def until(pilot: Pilot[None], *texts: str) -> str:
    """The screen, once it shows all of these texts."""
    ends_at = time.monotonic() + TIMEOUT_S
    while True:
        shown = screen_text(pilot)
        if all(text in shown for text in texts):
            return shown
        assert time.monotonic() < ends_at, f"{texts} are not in\n{shown}"
        await asyncio.sleep(0.05)


def timeline(pilot: Pilot[None]) -> list[str]:
    """The lines of a run's timeline."""
    options = pilot.app.screen.query_one("#timeline", OptionList)
    return [str(options.get_option_at_index(i).prompt) for i in range(options.option_count)]


def detail(pilot: Pilot[None]) -> str:
    """All text of the detail pane."""
    log = pilot.app.screen.query_one("#detail", RichLog)
    return "\n".join(strip.text.rstrip() for strip in log.lines)


def state(pilot: Pilot[None]) -> str:
    """The line with the status."""
    return str(pilot.app.screen.query_one("#state", Static).content)
