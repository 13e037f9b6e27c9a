"""Records the calls into some files of the project in any Python program that a check starts.

Each process imports it when it starts, and writes what it has recorded when it ends. Nothing but
the standard library is used, of Python 3.7 on.
"""

from __future__ import annotations

import atexit
import inspect
import json
import os
import sys
from typing import Any, Dict, List

from _retrai_record import Recorder, drop_defaults, module_name, qualified_name
from _retrai_values import find_function, own_files

MAX_OF_ONE = 20
"""So many calls of one function are recorded in one process."""


class ProgramRecorder(Recorder):
    """Follows the outermost calls with arguments into some files.

    Args:
        root: the folder of the project.
        files: those that are followed.
    """

    # What runs tests has made a million frames before the first of them.
    max_frames, max_calls = 10000000, 2000

    def __init__(self, root: str, files: List[str]) -> None:
        super().__init__(root, own_files(root))
        self.files = frozenset(map(os.path.realpath, files))
        self.counts: Dict[Any, int] = {}

    def is_projects(self, name: str) -> bool:
        """Whether a file is one of those that are followed."""
        return os.path.realpath(name) in self.files

    def tells(self, frame: Any) -> bool:
        """Whether a call is worth following; what it calls is looked at where it is not.

        What is given nothing, as the `main` of a program, has nothing near it.
        """
        code = frame.f_code
        if code.co_name.startswith("<"):
            return False
        self.counts[code] = self.counts.get(code, 0) + 1
        if self.counts[code] > MAX_OF_ONE:
            return False
        names, star, double, held = inspect.getargvalues(frame)
        args = [held.get(one) for one in names[: code.co_argcount]]
        named = {one: held.get(one) for one in names[code.co_argcount :]}
        function = find_function(frame.f_globals["__name__"], qualified_name(frame), code)
        if function is not None:
            drop_defaults(function, args, named)
        return bool(args or named or held.get(star) or held.get(double))

    def write(self, folder: str) -> None:
        """Write what was recorded, a JSON object a line: first where modules come from, then the
        calls."""
        sys.settrace(None)
        if not self.calls:
            return
        modules = [
            module_name(vars(module))
            for module in list(sys.modules.values())
            if os.path.realpath(getattr(module, "__file__", None) or "") in self.files
        ]
        paths = [os.path.abspath(path) for path in sys.path]
        with open(os.path.join(folder, str(os.getpid())), "a") as out:
            out.write(json.dumps({"paths": paths, "modules": list(filter(None, modules))}) + "\n")
            out.writelines(
                json.dumps({"call": call, "answer": answer, "again": again}) + "\n"
                for call, answer, again in self.calls
            )


def start() -> None:
    """Record until the process ends, as the settings beside this file say."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.remove(here)
    with open(os.path.join(here, "settings.json")) as file:
        settings = json.load(file)
    recorder = ProgramRecorder(settings["root"], settings["files"])
    atexit.register(recorder.write, settings["answers"])
    recorder.start()
