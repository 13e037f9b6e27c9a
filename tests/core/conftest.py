"""What holds for all tests of the core; its environment has no file above this one."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no time limits", parent=settings.default, deadline=None)
settings.load_profile("no time limits")
