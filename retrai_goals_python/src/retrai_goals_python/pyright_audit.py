"""What looks like silencing pyright instead of fixing types."""

from __future__ import annotations

from retrai_core import Suspicion
from retrai_goal_support import audit_lines, changed_lines

from .diff_audit import IGNORES, is_source, reported

TRICKS = (
    *IGNORES,
    reported(r"\bno_type_check\b", "switches the check of a function off"),
    reported(r"\bif not TYPE_CHECKING\b", "hides code from the type checker"),
    reported(r"\breport\w+\"?\s*[:=]\s*(?:false|\"none\"|'none')", "switches a rule off"),
    reported(r"^\s*\"?(?:exclude|ignore|strict|include)\"?\s*[:=]", "changes what is checked"),
    reported(r"typeCheckingMode", "changes how strictly is checked"),
)


def audit_types(diff: str) -> list[Suspicion]:
    """Added lines that silence the type checker, and stubs that it would believe.

    Example:
        >>> diff = "--- a/x.py\\n+++ b/x.py\\n@@ -1 +1 @@\\n-a = f()\\n+a = f()  # type: ignore\\n"
        >>> [(found.path, found.line) for found in audit_types(diff)]
        [('x.py', 1)]
    """
    added = [path for sign, path, _, _ in changed_lines(diff) if sign == "+"]
    stubs = [path for path in dict.fromkeys(added) if path.endswith(".pyi")]
    return [
        *audit_lines(diff, TRICKS, is_source=is_source),
        *(Suspicion(path, 1, "adds to a stub, which pyright believes") for path in stubs),
    ]
