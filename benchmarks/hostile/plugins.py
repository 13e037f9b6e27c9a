"""The hostile plugins of retrai's own groups, and what is documented to come of each."""

from __future__ import annotations

from .making import (
    BROKEN,
    CORE,
    FAILED,
    GOAL,
    MODEL,
    REFUSED,
    REINSTALL,
    Hostile,
    at_import,
    check,
    hook,
    provider,
    sink,
    tool,
    wheel,
)

IMPORT_ROWS = (
    at_import(
        "raises",
        "raises at import",
        "raise RuntimeError('at import')",
        "RuntimeError: at import",
        REFUSED,
    ),
    at_import(
        "needy",
        "misses a dependency",
        "import absent_module_x",
        "absent_module_x",
        "refused (2), with the `pip install` of what is missing",
        requires=[CORE, "absent-dist>=2"],
    ),
    at_import(
        "function", "is of the wrong type", "def Plugin(): pass", "not a subclass of", REFUSED
    ),
    at_import("nothing", "entry point leads to nothing", "Other = 1", "Plugin", REFUSED),
    at_import(
        "exits",
        "calls `sys.exit` at import",
        "import sys; sys.exit(0)",
        "ends the program",
        REFUSED,
    ),
    at_import(
        "prints", "prints at import", "print('NOISE')" + GOAL, "prints to standard output", REFUSED
    ),
    at_import(
        "moves",
        "changes the working directory at import",
        "import os; os.chdir('/')" + GOAL,
        "working directory",
        REFUSED,
    ),
    at_import(
        "signals",
        "changes a signal handler at import",
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)" + GOAL,
        "signal",
        REFUSED,
    ),
    Hostile(
        "sleeps 30 s at import",
        "sleeps",
        [wheel("sleeps", "import time; time.sleep(30)" + GOAL.replace("NAME", "sleeps"))],
        "waited for (120 s at most), reported after 5 s, and used (0)",
        arguments=("sleeps", "-m", "player"),
        says=("still importing the goal `sleeps` of hostile-sleeps",),
    ),
)
_TWIN = GOAL.replace("NAME", "twin")
METADATA_ROWS = (
    Hostile(
        "has the same name as another",
        "twin",
        [wheel("twin", _TWIN, dist="hostile-twin-a"), wheel("twin", _TWIN, dist="hostile-twin-b")],
        "refused (2), naming both and how to choose",
        arguments=("twin", "-m", "player"),
        exit_code=2,
        says=("hostile-twin-a and hostile-twin-b", "twin@hostile-twin-a"),
    ),
    Hostile(
        "needs a newer core",
        "newer",
        [wheel("newer", GOAL, requires=["retrai-core>=9"])],
        "listed `incompatible`, never imported; refused (2)",
        status="incompatible",
        arguments=("newer", "-m", "player"),
        exit_code=2,
        says=("goal `newer` of hostile-newer", "retrai-core>=9", "pip install --upgrade"),
    ),
    Hostile(
        "metadata left by a removed distribution",
        "stale",
        [wheel("stale", GOAL, leftover=True)],
        "listed `broken`; refused (2)",
        status="broken",
        arguments=("stale", "-m", "player"),
        exit_code=2,
        says=("goal `stale` of hostile-stale", "no module `hostile_stale`", REINSTALL),
    ),
    Hostile(
        "manifest that lies about needs",
        "liar",
        [
            wheel(
                "liar",
                GOAL.replace("NAME", "liar").replace("frozenset()", "frozenset({'network'})"),
            )
        ],
        "broken as soon as it is loaded; refused (2)",
        arguments=("liar", "-m", "player"),
        exit_code=2,
        says=("goal `liar` of hostile-liar", "manifest", "network", *BROKEN),
    ),
    Hostile(
        "metadata that is not ASCII",
        "größe-測試",
        [
            wheel(
                "größe-測試",
                GOAL.replace("NAME", "größe-測試"),
                dist="hostile-unicode",
                summary="Größe, 測試, \N{SNOWMAN}",
            )
        ],
        "works (0)",
        arguments=("größe-測試", "-m", "player"),
    ),
    Hostile(
        "entry point name with spaces",
        "two words",
        [wheel("two words", GOAL.replace("NAME", "two words"), dist="hostile-spaces")],
        "works (0)",
        arguments=("two words", "-m", "player"),
    ),
)
TOOL_ROWS = (
    tool(
        "never",
        "tool that never returns",
        "await asyncio.Event().wait()",
        "never was ended after 1 s",
        "ended at its `limit_s`; the model reads why, the run continues (0)",
        limit_s=1,
    ),
    tool(
        "blocks",
        "tool that blocks the event loop",
        "time.sleep(10**9)",
        "blocks was ended after 1 s",
        "ended soon after its `limit_s`; the model reads why, the run continues (0)",
        limit_s=1,
    ),
    tool(
        "gigabyte",
        "tool that returns 1 GB",
        "return ToolResult('x' * 10**9)",
        "characters cut here",
        "cut at its `max_chars` before anything stores it; the run continues (0)",
    ),
    tool(
        "none",
        "tool that returns no result",
        "return None",
        "the tool none of hostile-none 1.0 failed: run() returned None",
        "reported to the model; the run continues (0)",
    ),
    tool(
        "quits",
        "tool that calls `sys.exit`",
        "raise SystemExit(0)",
        "the tool quits of hostile-quits 1.0 failed: run() ends the program",
        "reported to the model; the run continues (0)",
    ),
)
RUN_ROWS = (
    check(
        "check-raises",
        "goal whose check raises",
        "raise ValueError('no luck')",
        "ValueError: no luck",
    ),
    check(
        "check-exits",
        "goal whose check calls `sys.exit(0)`",
        "raise SystemExit(0)",
        "check() ends the program",
    ),
    check(
        "check-none",
        "goal whose check returns nothing",
        "return None",
        "check() returned None",
    ),
    provider(
        "nonsense",
        "provider whose model answers with a text",
        MODEL.replace("NAME", "nonsense").replace("BODY", "Model()"),
        "three lost answers, reported to the model, then `error` (70) naming it",
        exit_code=70,
        says=("the provider nonsense@hostile-nonsense failed", "a str, not an AIMessage"),
    ),
    provider(
        "no-model",
        "provider that makes no model",
        MODEL.replace("NAME", "no-model").replace("BODY", "42"),
        FAILED,
        exit_code=70,
        says=(
            "llm no-model of hostile-no-model 1.0 failed",
            "create() returned 42, not a BaseChatModel",
        ),
    ),
)
HOOK_ROWS = (
    hook(
        "odd-hook",
        "hook with an unknown argument",
        "def system_prompt(self, goal, colour): pass",
        "left out of the run with one warning (0)",
        says=("hook `odd-hook` of hostile-odd-hook", "colour", *BROKEN),
    ),
    hook(
        "former-sink",
        "hook plugin that is an event sink, as in older versions",
        "def on_event(self, event): pass",
        "left out of the run with one warning that says what it is now (0)",
        says=("hook `former-sink` of hostile-former-sink", "in `retrai.sinks`", *BROKEN),
    ),
    sink(
        "sink-import",
        "event sink that raises at import",
        "left out of the run with one warning (0)",
        code="raise RuntimeError('no sink')",
        says=("sink `sink-import` of hostile-sink-import", "RuntimeError: no sink", *BROKEN),
    ),
    sink(
        "sink-unbuilt",
        "event sink that raises when it is built",
        "one warning, receives nothing; the run continues (0)",
        method="def __init__(self, options): raise OSError('no disk')",
        says=("sink-unbuilt@hostile-sink-unbuilt failed when it was built: OSError: no disk",),
    ),
    sink(
        "sink-raises",
        "sink that raises on every event",
        "one warning, receives no more events; the run continues (0)",
        body="raise OSError('full')",
        says=("sink-raises@hostile-sink-raises failed when it was told", "OSError: full"),
    ),
    sink(
        "sink-exits",
        "sink that calls `sys.exit`",
        "one warning, receives no more events; the run continues (0)",
        body="raise SystemExit(3)",
        says=("sink-exits@hostile-sink-exits failed", "SystemExit: 3"),
    ),
    sink(
        "sink-options",
        "sink with an option that must be given, and is not",
        "left out of the run with one warning (0)",
        method="class Options(SinkOptions):\n        url: str",
        says=("sink-options@hostile-sink-options is not used", "url"),
    ),
    sink(
        "sink-blocks",
        "sink that blocks",
        "slows nobody; abandoned 5 s after the end (0)",
        body="time.sleep(3600)",
        says=("sink-blocks@hostile-sink-blocks has not come to its end",),
    ),
    hook(
        "gate",
        "tool gate that is broken, by its manifest",
        "def before_tool(self, call): pass",
        "fails closed: no run at all (2); `RETRAI_DISABLE_PLUGINS` disables it",
        code="raise RuntimeError('no gate')",
        exit_code=2,
        bystander_exit_code=2,
        says=("hook `gate` of hostile-gate", "nothing is run without it", REINSTALL),
    ),
    hook(
        "own-gate",
        "tool gate that is broken, configured, without a manifest",
        "def before_tool(self, call): pass",
        "fails closed (2); where it is not configured, a warning",
        code="raise RuntimeError('no gate')",
        manifest="",
        config={"plugins": {"own-gate": {}}},
        exit_code=2,
        says=("hook `own-gate` of hostile-own-gate", "nothing is run without it", REINSTALL),
    ),
    hook(
        "gate-raises",
        "tool gate that raises at every call",
        "def before_tool(self, call): raise OSError('no rules')",
        "every call is refused and says which gate failed; the run fails (1)",
        config={"max_iterations": 2},
        exit_code=1,
        bystander_exit_code=1,
        logged=("the tool gate gate-raises@hostile-gate-raises failed",),
    ),
)
ROWS = (*IMPORT_ROWS, *METADATA_ROWS, *HOOK_ROWS, *TOOL_ROWS, *RUN_ROWS)
