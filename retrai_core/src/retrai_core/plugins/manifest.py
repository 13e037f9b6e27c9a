"""Reads a package's manifest, `retrai.toml` next to its `__init__.py`.

    schema = 1

    [goals.pytest]
    summary = "every test of a pytest suite passes"
    needs = ["read", "run"]
    programs = ["git"]
    default_tools = ["file_read", "run_pytest"]
    markers = [{ glob = "pyproject.toml", contains = "[tool.pytest", priority = 20 }]

    [goals.pytest.options]
    targets = { type = "list[str]", default = [], description = "What to test.", loosens = true }

    [tools.web_fetch]
    offered = "always"

    [llms.offline]
    model_patterns = ["offline"]

    [frontends.export]
    parent = "runs"

    [hooks.audit]
    hooks = ["before_tool"]

Tables are named after the entry-point groups (`goals`, `tools`, `llms`, `memory`, `frontends`,
`agents`, `sandboxes`, `stores`, `engines`, `sinks`, `hooks`, `hookspecs`), then after the entry
point; every key may be left out.
`retrai plugins manifest` writes it from the classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from .entry import OFFERS, ManifestEntry, MarkerEntry, Offered, OptionEntry
from .kinds import KINDS, Kind, table_of
from .written import SCHEMA

Manifest = Mapping[tuple[Kind, str], ManifestEntry]
_Table = dict[str, Any]


class ManifestError(ValueError):
    """A manifest that cannot be read; the message says where and why."""


def read_manifest(path: str) -> Manifest | None:
    """The entries of the manifest at `path` by kind and name; None where there is no file.

    Raises:
        ManifestError: it is not TOML, not UTF-8, or not of this form.
    """
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except (FileNotFoundError, NotADirectoryError):  # none there, or a package in an archive
        return None
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}") from error
    return parse_manifest(raw, path)


def parse_manifest(raw: bytes, where: str) -> Manifest:
    """The entries of a manifest; `where` names it in errors.

    Raises:
        ManifestError: it is not TOML, not UTF-8, or not of this form.
    """
    import tomllib  # a scan without manifests does without it

    try:
        document = tomllib.loads(raw.decode())
        return _entries(document)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, ManifestError) as error:
        raise ManifestError(f"{where}: {error}") from error


def _entries(document: _Table) -> Manifest:
    if document.get("schema") != SCHEMA:
        raise ManifestError(f"schema is {document.get('schema')!r}, this retrai reads {SCHEMA}")
    kind_of: dict[str, Kind] = {table_of(kind): kind for kind in KINDS}
    entries: dict[tuple[Kind, str], ManifestEntry] = {}
    for table, plugins in document.items():
        if table == "schema":
            continue
        if table not in kind_of:
            raise ManifestError(f"[{table}] is none of {', '.join(sorted(kind_of))}")
        for name, raw in _table(plugins, table).items():
            where = f"{table}.{name}"
            entries[kind_of[table], name] = _entry(_table(raw, where), where)
    return entries


def _entry(raw: _Table, where: str) -> ManifestEntry:
    unknown = sorted(raw.keys() - set(ManifestEntry._fields))
    if unknown:
        raise ManifestError(f"[{where}] has the unknown key `{unknown[0]}`")
    options = _table(raw.get("options", {}), f"{where}.options")
    return ManifestEntry(
        summary=_text(raw.get("summary", ""), f"{where}.summary"),
        needs=tuple(sorted(_texts(raw, "needs", where))),
        options={
            name: _option(_table(option, f"{where}.options.{name}"), f"{where}.options.{name}")
            for name, option in options.items()
        },
        markers=tuple(_marker(raw, f"{where}.markers") for raw in _list(raw, "markers", where)),
        model_patterns=_texts(raw, "model_patterns", where),
        default_tools=_texts(raw, "default_tools", where),
        hooks=tuple(sorted(_texts(raw, "hooks", where))),
        programs=tuple(sorted(_texts(raw, "programs", where))),
        offered=_offered(raw.get("offered", "by_goal"), where),
        protects=_text(raw.get("protects", ""), f"{where}.protects"),
        steers=_text(raw.get("steers", ""), f"{where}.steers"),
        parent=_text(raw.get("parent", ""), f"{where}.parent"),
    )


def _offered(value: object, where: str) -> Offered:
    for known in OFFERS:
        if value == known:
            return known
    raise ManifestError(f"{where}.offered: {value!r} is none of {', '.join(OFFERS)}")


def _option(raw: _Table, where: str) -> OptionEntry:
    loosens = raw.get("loosens")
    return OptionEntry(
        type=_text(raw.get("type", ""), where),
        default=raw.get("default"),
        required=raw.get("required") is True,
        description=_text(raw.get("description", ""), where),
        runs=raw.get("runs") is True,
        loosens=loosens if isinstance(loosens, bool) else None,
        aliases=_texts(raw, "aliases", where),
    )


def _marker(value: object, where: str) -> MarkerEntry:
    raw = _table(value, where)
    glob = _text(raw.get("glob", ""), where)
    # Markers are looked for in a stranger's project: never outside it, never all the way down.
    if not glob or glob.startswith("/") or ".." in glob.split("/") or "**" in glob:
        raise ManifestError(f"{where}: glob `{glob}` must name something at the project's root")
    priority = raw.get("priority", 50)
    if not isinstance(priority, int):
        raise ManifestError(f"{where}: priority {priority!r} is not a whole number")
    return MarkerEntry(glob, _text(raw.get("contains", ""), where), priority)


def _table(value: object, where: str) -> _Table:
    if not isinstance(value, dict):
        raise ManifestError(f"[{where}] is not a table")
    return cast(_Table, value)


def _list(raw: _Table, key: str, where: str) -> list[object]:
    value = raw.get(key, [])
    if not isinstance(value, list):
        raise ManifestError(f"{where}.{key} is not a list")
    return cast(list[object], value)


def _texts(raw: _Table, key: str, where: str) -> tuple[str, ...]:
    return tuple(_text(value, f"{where}.{key}") for value in _list(raw, key, where))


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ManifestError(f"{where}: {value!r} is not text")
    return value
