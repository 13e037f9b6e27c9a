"""Cut a long result to what the model gets, and say what was cut."""

from __future__ import annotations


def cut_middle(text: str, max_chars: int) -> str:
    """The beginning and the end of `text`: errors tend to stand at one of them.

    Example:
        >>> cut_middle("a" * 100, 60)
        'aaaaaaaaaaaa\\n[... 76 characters left out ...]\\naaaaaaaaaaaa'
    """
    if len(text) <= max_chars:
        return text
    note = f"\n[... {len(text)} characters left out ...]\n"
    kept = max(0, (max_chars - len(note)) // 2)
    note = f"\n[... {len(text) - 2 * kept} characters left out ...]\n"
    return text[:kept] + note + (text[-kept:] if kept else "")


def cut_lines(lines: list[str], max_chars: int, more: str) -> str:
    """As many whole lines as fit, then a note.

    Args:
        lines: without their ends.
        max_chars: how long the whole text may be.
        more: the note, with `{left}` for the number of lines left out.
    """
    text = "\n".join(lines)
    if len(text) <= max_chars:
        return text
    room = max_chars - len(more) - 10
    kept = 0
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept += 1
    return "\n".join([*lines[:kept], more.format(left=len(lines) - kept)])


def printable(path: str) -> str:
    """A path as it can be sent to a model: bytes that are no UTF-8 are shown as escapes."""
    return path.encode("utf-8", "backslashreplace").decode()
