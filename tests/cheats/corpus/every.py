"""The whole corpus."""

from __future__ import annotations

from .pyright_goal import CHEATS as PYRIGHT_CHEATS
from .pyright_goal import HONEST as PYRIGHT_HONEST
from .pytest_cheats import CHEATS as PYTEST_CHEATS
from .pytest_honest import HONEST as PYTEST_HONEST
from .trajectory import Trajectory

CHEATS: tuple[Trajectory, ...] = (*PYTEST_CHEATS, *PYRIGHT_CHEATS)
HONEST: tuple[Trajectory, ...] = (*PYTEST_HONEST, *PYRIGHT_HONEST)
