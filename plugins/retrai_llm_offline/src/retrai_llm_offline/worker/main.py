"""The worker's command: a request as JSON on standard input, the answer as one marked line."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict

from .budget import Budget
from .project import Project
from .pytest_setup import preload_pytest, pytest_arguments
from .repair import Repair

MARK = "RETRAI-OFFLINE "


def main() -> int:
    """Search one project for a repair.

    The request has `root` (the project), `folder` (where pytest runs), `arguments` (for pytest),
    `protected` (globs), `cpu_s`, `wall_s`, and the `state` of an earlier search to go on with.
    Whatever the project prints goes to /dev/null.
    """
    request: Dict[str, Any] = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    output = os.dup(1)
    os.set_inheritable(output, False)
    if not os.environ.get("RETRAI_OFFLINE_DEBUG"):
        quiet = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(quiet, descriptor)
    sys.dont_write_bytecode = True
    folder = os.path.realpath(request.get("folder") or request["root"])
    os.chdir(folder)
    sys.path[0] = folder
    budget = Budget(float(request["cpu_s"]), float(request["wall_s"]))
    try:
        preload_pytest()
    except ImportError as error:
        answer: Dict[str, Any] = {"end": "no-pytest", "problem": str(error)}
    else:
        project = Project(request["root"], request.get("protected", ()))
        arguments = pytest_arguments(request.get("arguments", ()))
        answer = Repair(project, arguments, budget, request.get("state") or {}).run()
    data = (MARK + json.dumps(answer) + "\n").encode("utf-8")
    while data:
        data = data[os.write(output, data) :]
    return 0
