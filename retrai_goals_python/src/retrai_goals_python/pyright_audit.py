"""What looks like silencing pyright instead of fixing types."""

from __future__ import annotations

import re

from retrai_core import Suspicion

from .diff_audit import IGNORES, Trick, audit_added_lines
from .diff_lines import added_lines

TRICKS: tuple[Trick, ...] = (
    *IGNORES,
    (re.compile(r"\bno_type_check\b"), "switches the check of a function off"),
    (re.compile(r"\bif not TYPE_CHECKING\b"), "hides code from the type checker"),
    (re.compile(r"\breport\w+\"?\s*[:=]\s*(?:false|\"none\"|'none')"), "switches a rule off"),
    (re.compile(r"^\s*\"?(?:exclude|ignore|strict|include)\"?\s*[:=]"), "changes what is checked"),
    (re.compile(r"typeCheckingMode"), "changes how strictly is checked"),
)


def audit_types(diff: str) -> list[Suspicion]:
    """Added lines that silence the type checker, and stubs that it would believe.

    Example:
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1 +1 @@\\n-a = f()\\n+a = f()  # type: ignore\\n"
        >>> [(found.path, found.line) for found in audit_types(diff)]
        [('x.py', 1)]
    """
    stubs = dict.fromkeys(path for path, _, _ in added_lines(diff) if path.endswith(".pyi"))
    return [
        *audit_added_lines(diff, TRICKS),
        *(Suspicion(path, 1, "adds to a stub, which pyright believes") for path in stubs),
    ]
