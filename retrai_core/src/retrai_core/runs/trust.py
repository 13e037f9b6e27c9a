"""Asks once for consent to what a project's configuration runs, redirects or loosens.

A repository of somebody else may contain a `.retrai.yml` that names a command. The consent of the
user is stored in the state folder as a hash of each value, so that a change asks again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from ..config.files import PROJECT_FILE, user_config_path
from ..config.model import TASK, USE, RunConfig, is_agent_limit, is_signed
from ..config.sources import Settings
from ..errors import StateFolderError, TrustRequired
from ..plugins.catalog import Catalog
from ..plugins.record import PluginRecord
from ..plugins.standard_names import AUTO_SANDBOX, REPLAY
from ..storage.state_folder import state_dir
from ..verification.held_out_paths import is_outside

TRUST_VARIABLE = "RETRAI_TRUST"
_YES = frozenset({"1", "true", "yes"})

_WALLS = frozenset({AUTO_SANDBOX, "bwrap", "strict"})
"""Sandboxes that a project may choose unasked: none is weaker than what `auto` might take."""
_ENTRIES = frozenset({"goals", "agents"})
"""Sections with a mapping below each name; `goals.lint.check_command` is one option in it."""

Claims = Mapping[str, Any]
"""Value by setting, as JSON, of what the project wants run or redirected; empty for most."""


def claims_of(settings: Settings) -> Claims:
    """What of the project's own file, as far as nothing stronger overrules it, must be agreed to.

    Args:
        settings: the merged configuration, which knows where each value comes from. Which options
            of goals are harmless is in the manifests of what is installed.
    """
    dumped = settings.config.model_dump(mode="json")
    names = [*_settings_of(settings), *_loosened(settings), *_options_of(settings)]
    found: dict[str, Any] = {}
    if settings.project.get("disabled_plugins"):
        found["disabled_plugins"] = settings.project["disabled_plugins"]
    for name in dict.fromkeys(names):
        section, dot, key = name.partition(".")
        if section in _ENTRIES:
            entry, _, option = key.rpartition(".")
            found[name] = dumped[section][entry][option]
            continue
        shown = key if section == "options" else RunConfig.model_fields[section].alias or section
        if dot:  # an option may be called like a setting, whose claim it must not hide
            is_option = section == "options" and key not in found
            found[key if is_option else name] = dumped[section][key]
        else:
            found[shown] = dumped[section]
    return found


def require_trust(
    settings: Settings,
    *,
    agreed: bool | str = False,
    environ: Mapping[str, str] = os.environ,
) -> str:
    """Let a run of the project begin only with what the user has agreed to.

    Args:
        settings: the merged configuration.
        agreed: the user agrees with this very call: to all of it, or to what has this digest; it
            is remembered.
        environ: `RETRAI_TRUST=1` says yes for this process.

    Returns:
        the digest of what was agreed to; empty where the project sets nothing of the kind.

    Raises:
        TrustRequired: nobody has agreed; the message shows what would be run, the hint what to
            type.
    """
    claims = claims_of(settings)
    if not claims:
        return ""
    project = settings.config.cwd
    hashes = _hashes(claims)
    digest = hashlib.sha256(json.dumps([str(project), hashes], sort_keys=True).encode()).hexdigest()
    if environ.get(TRUST_VARIABLE, "").strip().lower() in _YES:
        return digest
    if _is_below(project, settings.config.trusted) or hashes.items() <= _agreed(project).items():
        return digest
    if agreed in (True, digest):
        agree(project, claims)
        return digest
    raise TrustRequired(
        f"{_shown(project, claims)}\nNothing was run, because you have not agreed to this yet",
        hint=(
            "`retrai run --trust` agrees, until one of these values changes; "
            f"{TRUST_VARIABLE}=1, or `trusted: [FOLDER]` in {user_config_path()}, agrees "
            "without a terminal"
        ),
        digest=digest,
        items=claims,
    )


def is_agreed(settings: Settings) -> bool:
    """Whether a run would begin without asking."""
    try:
        require_trust(settings)
    except TrustRequired:
        return False
    return True


def without_claims(settings: Settings) -> Settings:
    """The settings, without the options of plugins and agents that the project's own file gives
    where the user has not agreed to it: for looking into a project, which asks nobody."""
    if is_agreed(settings):
        return settings
    own: dict[str, dict[str, Any]] = {}
    for key in ("plugins", "agents"):
        entries = cast("Mapping[str, Any]", settings.user.get(key) or {})
        own[key] = {name: entry or {} for name, entry in entries.items()}
    return replace(settings, config=settings.config.model_copy(update=own))


def agree(project: Path, claims: Claims) -> None:
    """Remember that the user agrees to these values in this project.

    Raises:
        StateFolderError: the state folder cannot be written to.
    """
    path = _note(project)
    # Beside what was agreed to before: another goal of the project has other values.
    agreed = {**_agreed(project), **_hashes(claims)}
    note = {"project": str(project), "agreed": agreed, "at": time.time()}
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(json.dumps(note), encoding="utf-8")
    except OSError as error:
        raise StateFolderError(state_dir(), error) from error


def _settings_of(settings: Settings) -> Iterator[str]:
    def of_project(name: str) -> bool:
        return settings.origins.get(name) == settings.project_file

    config = settings.config
    if of_project("python"):
        yield "python"
    if of_project("mcp") and config.mcp:
        yield "mcp"
    if of_project("sandbox") and config.sandbox not in _WALLS:
        yield "sandbox"
    if of_project("model_name") and config.model_name.startswith(REPLAY):
        yield "model_name"  # a list of calls: the project says which tools are called
    if of_project("holdout") and any(is_outside(pattern) for pattern in config.holdout):
        yield "holdout"  # it would show the project's code files of the user's
    if of_project("allow_edit") and config.allow_edit:
        yield "allow_edit"  # a verdict on tests that the agent may change is worth less
    for name in config.agents.get(config.agent, {}):
        place = f"agents.{config.agent}.{name}"
        if of_project(place) and not is_agent_limit(name):
            yield place
    for section, names in (("plugins", config.plugins), ("pins", config.pins)):
        yield from (f"{section}.{name}" for name in names if of_project(f"{section}.{name}"))


def _loosened(settings: Settings) -> Iterator[str]:
    """Where the project's file allows what the user's own file, or the default, does not."""
    merged = settings.config.model_dump(mode="json")
    users = RunConfig.model_validate(dict(settings.user)).model_dump(mode="json")
    for name, is_looser in _LIMITS.items():
        if settings.origins.get(name) != settings.project_file:
            continue
        mine, theirs = users[name], merged[name]
        if mine is not None and (theirs is None or is_looser(mine, theirs)):
            yield name


def _differs(mine: Any, theirs: Any) -> bool:
    return mine != theirs


def _is_less(mine: Any, theirs: Any) -> bool:
    return theirs < mine


def _is_more(mine: Any, theirs: Any) -> bool:
    return theirs > mine


def _lacks_some(mine: Any, theirs: Any) -> bool:
    return bool(set(mine) - set(theirs))


def _has_more_tools(mine: Any, theirs: Any) -> bool:
    """Whether a list has what the user's leaves out: by not naming it, or with a minus."""
    if not mine or not all(map(is_signed, mine)):
        return _lacks_some(theirs, mine)
    removed = {name[1:] for name in mine if name[0] == "-"}
    if not all(map(is_signed, theirs)):
        return any(fnmatchcase(tool, pattern) for pattern in removed for tool in theirs)
    return bool(removed - {name[1:] for name in theirs if name[0] == "-"})


_LIMITS: Mapping[str, Callable[[Any, Any], bool]] = {
    "permissions": _differs,
    "sandbox": lambda mine, theirs: mine not in (theirs, AUTO_SANDBOX),
    "hitl_enabled": _is_less,
    "max_cost_usd": _is_more,
    "max_tokens": _is_more,
    "max_time_s": _is_more,
    "max_tampering": _is_more,
    "confirm": _is_less,
    "holdout": _lacks_some,
    "no_tools": _lacks_some,
    "tools": _has_more_tools,
}
"""Whether a project's value is looser than the user's; no value of the user's is no limit."""


def _options_of(settings: Settings) -> Iterator[str]:
    """The goal's options but for harmless ones; of all goals where none is named."""
    config = settings.config
    options = [f"options.{name}" for name in config.options]
    for name, entry in config.goals.items():
        own = name.partition("@")[0]
        if config.goal is None:  # one will be found, by its own name
            is_used, overruled = config.plugin_of(name).partition("@")[0] == own, {}
        else:
            is_used = name in (config.goal, config.goal.partition("@")[0])
            overruled = config.options
        if is_used:
            options += [f"goals.{name}.{key}" for key in entry if key not in overruled]
    if config.task:
        options.append("task")
    options = [name for name in options if settings.origins.get(name) == settings.project_file]
    if not options:
        return
    catalog = Catalog.of(settings)
    for place in options:
        section, _, name = place.partition(".")
        goal = config.goal
        if section == "goals":
            goal, _, name = name.rpartition(".")
        if section == "goals" and name == USE:
            # A name of the project's own means what it says; an installed goal's would be replaced.
            if catalog.matching(str(goal).partition("@")[0], "goal"):
                yield place
            continue
        plugin = None if goal is None else config.plugin_of(goal).partition("@")[0]
        goals = catalog.records("goal") if plugin is None else catalog.matching(plugin, "goal")
        if section == TASK:  # it is text for the model, unless a goal has an option of that name
            name, goals = TASK, [one for one in goals if one.option_name(TASK)]
        # Where there is none it cannot be run: the next step says so.
        if goals and not _is_harmless(name, goals):
            yield place


def _is_harmless(option: str, goals: Iterable[PluginRecord]) -> bool:
    """Whether every goal's manifest that has the option says so, and at least one has it."""
    entries = [
        None if own is None else record.options[own]
        for record in goals
        if (own := record.option_name(option)) is not None or record.entry is None
    ]
    return bool(entries) and all(entry is not None and not entry.needs_trust for entry in entries)


def _shown(project: Path, claims: Claims) -> str:
    """The values in full: what is cut or hidden could be what matters. ASCII shows every sign."""
    lines = [f"  {name}: {json.dumps(value)}" for name, value in claims.items()]
    what = "sets values that run commands, redirect the run or weaken the check"
    return f"{project / PROJECT_FILE} {what}:\n" + "\n".join(lines)


def _is_below(project: Path, patterns: Iterable[str]) -> bool:
    """Whether the project, or a folder that it lies in, is one of those that the user trusts."""
    wanted = [os.path.expanduser(pattern).rstrip("/") or "/" for pattern in patterns]
    folders = [str(folder) for folder in (project, *project.parents)]
    return any(fnmatchcase(folder, pattern) for folder in folders for pattern in wanted)


def _hashes(claims: Claims) -> dict[str, str]:
    """A hash of each value by its name: values may hold what belongs in no note."""
    return {
        name: hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
        for name, value in claims.items()
    }


def _note(project: Path) -> Path:
    name = hashlib.sha256(os.fsencode(project)).hexdigest()[:24]
    return state_dir() / "trusted" / f"{name}.json"


def _agreed(project: Path) -> dict[str, str]:
    """The hash by name of what the user has agreed to in the project so far."""
    try:
        note: object = json.loads(_note(project).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(note, dict):
        return {}
    kept = cast("dict[str, object]", note)
    agreed = kept.get("agreed")
    if kept.get("project") != str(project) or not isinstance(agreed, dict):
        return {}
    return {str(name): str(digest) for name, digest in cast("dict[object, object]", agreed).items()}
