"""Draws docs/run.svg, the README's picture of a run, from the recording beside it.

    python docs/render_picture.py                draw it again
    python docs/render_picture.py --record ID    take over one of your runs first (a demo's, say)

The recording is a run's own event log and record, with the project's path made short; the lines are
those that the terminal shows.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

from retrai_core import FilesStore, RunRecord
from retrai_core.cli.render.summary import head_line, summary_lines
from retrai_core.cli.render.terminal import RunTerminal
from retrai_core.storage.event_log import read_events

HERE = Path(__file__).parent
PICTURE = HERE / "run.svg"
RECORDING = HERE / "recording"
WIDTH = 100
_FONTS_OF_A_SERVER = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""A README must not make its reader's browser ask a server for a font."""


def render() -> str:
    """The picture as SVG."""
    console = Console(
        record=True, width=WIDTH, file=io.StringIO(), highlight=False, force_terminal=True
    )
    record = RunRecord.load(RECORDING)
    console.print(Text("$ retrai demo", style="bold"))
    console.print(head_line(record))
    terminal = RunTerminal(console)
    for event in read_events(RECORDING / "events.jsonl"):
        terminal.hear(event)
    console.print()
    for line in summary_lines(record):
        console.print(line)
    svg = console.export_svg(title="retrai demo", unique_id="retrai")
    return _FONTS_OF_A_SERVER.sub("", svg)


def take_over(run_id: str) -> None:
    """Copy a run's log and record here, without the paths of this machine."""
    store = FilesStore()
    record = asyncio.run(store.load(run_id))
    folder = store.folder(record.id)
    RECORDING.mkdir(exist_ok=True)
    home, python = str(record.project), _python_of(record)
    for name in ("events.jsonl", "run.json"):
        text = (folder / name).read_text(encoding="utf-8").replace(home, "/home/me/shop")
        text = text.replace(str(folder), "/home/me/.local/state/retrai/runs/" + record.id)
        if python:
            text = text.replace(python, "/usr/bin/python3")
        (RECORDING / name).write_text(text, encoding="utf-8")


def _python_of(record: RunRecord) -> str:
    before = record.evidence.before
    return before.interpreter if before is not None else ""


def main() -> None:
    """Draw the picture, after taking over a run if one was named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", metavar="ID", help="a run of yours to take over first")
    args = parser.parse_args()
    if args.record:
        take_over(args.record)
    PICTURE.write_text(render() + "\n", encoding="utf-8")
    print(f"wrote {PICTURE.name}")


if __name__ == "__main__":
    main()
