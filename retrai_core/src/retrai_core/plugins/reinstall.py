"""The requirement lines that reinstall the same set of plugins."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, cast

from .record import PluginRecord


def requirement_lines(records: Iterable[PluginRecord]) -> list[str]:
    """One line for each distribution behind usable plugins, sorted, as `pip install -r` reads them.

    What was installed from a folder, an archive or a repository says so in its `direct_url.json`
    (PEP 610) and is pinned to that; all else is pinned to its version.
    """
    return sorted({_line(record) for record in records if record.is_usable})


def _line(record: PluginRecord) -> str:
    pinned = f"{record.dist}=={record.version}" if record.version else record.dist
    try:
        path = os.path.join(record.metadata_folder, "direct_url.json")
        with open(path, encoding="utf-8") as file:
            direct = cast(dict[str, Any], json.load(file))
        url = str(direct["url"])
        if "vcs_info" in direct:
            vcs = direct["vcs_info"]
            return f"{record.dist} @ {vcs['vcs']}+{url}@{vcs['commit_id']}"
        if direct.get("dir_info", {}).get("editable"):
            return f"-e {url}"
        return f"{record.dist} @ {url}"
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return pinned  # from an index, or a file that says nothing we can use
