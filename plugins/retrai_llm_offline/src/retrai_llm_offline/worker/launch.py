"""Start the worker by its path alone: `python launch.py < request.json`.

The interpreter is the project's, and this package is not installed there; loading it under a
name of its own puts nothing on `sys.path` that a project could trip over.
"""

import importlib
import importlib.util
import os
import sys

NAME = "_retrai_offline_worker"


def load():
    """The worker package, loaded from the folder of this file."""
    folder = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        NAME, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)
    return importlib.import_module(NAME + ".main")


if __name__ == "__main__":
    sys.exit(load().main())
