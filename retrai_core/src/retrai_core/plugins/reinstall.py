"""The requirement lines that reinstall the same set of plugins."""

from __future__ import annotations

from collections.abc import Iterable

from .metadata import direct_url
from .record import PluginRecord


def requirement_lines(records: Iterable[PluginRecord]) -> list[str]:
    """One line for each distribution behind usable plugins, sorted, as `pip install -r` reads them.

    What was installed from a folder, an archive or a repository is pinned to that; all else is
    pinned to its version.
    """
    return sorted({_line(record) for record in records if record.is_usable})


def _line(record: PluginRecord) -> str:
    match direct_url(record.metadata_folder):
        case {"url": str(url), "vcs_info": {"vcs": str(vcs), "commit_id": str(commit)}}:
            return f"{record.dist} @ {vcs}+{url}@{commit}"
        case {"url": str(url), "dir_info": {"editable": True}}:
            return f"-e {url}"
        case {"url": str(url)}:
            return f"{record.dist} @ {url}"
        case _:
            return f"{record.dist}=={record.version}" if record.version else record.dist
