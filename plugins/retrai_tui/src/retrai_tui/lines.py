"""A list of lines, of which one is selected."""

from __future__ import annotations

from rich.style import Style
from textual.strip import Strip
from textual.widgets import OptionList

_SELECTED = Style(reverse=True)


class Lines(OptionList):
    """Options of one line each. The selected one is reversed, which every terminal can show."""

    def render_line(self, y: int) -> Strip:
        """A line of the widget."""
        strip = super().render_line(y)
        if self.highlighted is not None and self.highlighted == self.scroll_offset.y + y:
            return strip.apply_style(_SELECTED)
        return strip
