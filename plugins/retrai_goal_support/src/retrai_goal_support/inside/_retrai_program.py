"""Records the calls into some files of the project in any Python program that a check starts.

Each process imports it when it starts, and writes what it has recorded when it ends. Nothing but
the standard library is used, of Python 3.7 on.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from typing import Any, Dict, List, Tuple

from _retrai_record import Pairs, Recorder, arguments_of, module_name
from _retrai_values import own_files

MAX_OF_ONE = 20
"""So many calls of one function, in one process, are kept so that they can be made again."""
MAX_SEEN_OF_ONE = 200
"""And so many are known."""


class ProgramRecorder(Recorder):
    """Follows the outermost calls with arguments into some files.

    Args:
        root: the folder of the project.
        files: those that are followed.
    """

    # What runs tests has made a million frames before the first of them.
    max_frames, max_calls, max_size = 10000000, 5000, 1000000

    def __init__(self, root: str, files: List[str]) -> None:
        super().__init__(root, own_files(root))
        self.files = frozenset(map(os.path.realpath, files))
        self.counts: Dict[Any, int] = {}

    def is_projects(self, name: str) -> bool:
        """Whether a file is one of those that are followed."""
        return os.path.realpath(name) in self.files

    def is_worth_following(self, frame: Any) -> bool:
        """Whether a call has others near it; what it calls is looked at where it has not.

        It has not where it is given nothing, as the `main` of a program, or nothing but `self`.
        """
        code = frame.f_code
        if code.co_name.startswith("<"):
            return False
        self.counts[code] = self.counts.get(code, 0) + 1
        if self.counts[code] > MAX_SEEN_OF_ONE:
            return False
        try:
            _, _, args, named = arguments_of(frame)
        except Exception:  # noqa: BLE001 - the project's objects may do anything
            return False
        is_method = code.co_varnames[:1] in (("self",), ("cls",))
        return bool(args[1:] if is_method else args) or bool(named)

    def _call(self, frame: Any) -> Tuple[str, str, Pairs]:
        shown, again, arguments = super()._call(frame)
        return shown, again if self.counts[frame.f_code] <= MAX_OF_ONE else "", arguments

    def write(self, folder: str) -> None:
        """Write what was recorded, a JSON object a line: first about the process, then the calls.

        Args:
            folder: where; the file is called as the process is numbered.
        """
        sys.settrace(None)
        if not self.calls:
            return
        names = [
            module_name(vars(module))
            for module in list(sys.modules.values())
            if os.path.realpath(getattr(module, "__file__", None) or "") in self.files
        ]
        lines: List[Any] = [
            {
                "python": sys.executable,
                "paths": [os.path.abspath(path) for path in sys.path],
                "modules": [name for name in names if name],
            }
        ]
        lines += [
            {"call": call, "answer": answer, "again": again} for call, answer, again in self.calls
        ]
        with open(os.path.join(folder, str(os.getpid())), "a") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines)


def start() -> None:
    """Record until the process ends, as the settings beside this file say."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.remove(here)
    with open(os.path.join(here, "settings.json")) as file:
        settings = json.load(file)
    recorder = ProgramRecorder(settings["root"], settings["files"])
    atexit.register(recorder.write, settings["answers"])
    recorder.start()
