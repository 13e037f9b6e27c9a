"""The wheels of the hostile-plugin table, installed for one test."""

from __future__ import annotations

import sys
from pathlib import Path

# The benchmark's own package: the table in the documentation and the suite try the same wheels.
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
