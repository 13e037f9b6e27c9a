"""The scripts of `retrai completion` work in the shells they are for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """#!{python}
import sys
from retrai_core.cli.main import main
sys.exit(main())
"""
ASK = {
    "bash": 'eval "$(retrai completion bash)"; COMP_WORDS=(retrai run acm); COMP_CWORD=2; '
    '_retrai_completion retrai; echo "${COMPREPLY[@]}"',
    "zsh": 'compdef() { :; }; eval "$(retrai completion zsh)"; typeset -f _retrai_completion',
    "fish": "retrai completion fish | source; complete -C 'retrai run acm'",
}


@pytest.fixture
def environment(site: Any, child_environment: Mapping[str, str]) -> Mapping[str, str]:
    """A goal `acme`, and a `retrai` on the path."""
    site.install_goal("acme-goal", "acme", "raise SystemExit('imported')")
    site.install(
        "acme-llm",
        entry_points="[retrai.llms]\nparrot = acme_llm.plugin:P\n",
        manifest='schema = 1\n[llms.parrot]\nmodel_patterns = ["parrot:*"]\n',
    )
    programs = site.folder / "bin"
    programs.mkdir()
    program = programs / "retrai"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    return {**child_environment, "PATH": f"{programs}:{child_environment['PATH']}"}


@pytest.mark.parametrize("shell", ASK)
def test_a_goals_name_is_completed_in_a_real_shell(
    environment: Mapping[str, str], tmp_path: Path, shell: str
) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run(
        [program, "-c", ASK[shell]],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ("_RETRAI_COMPLETE=zsh_complete" if shell == "zsh" else "acme") in done.stdout


def test_bash_puts_no_space_behind_half_a_word(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    ask = (
        'eval "$(retrai completion bash)"; compopt() { echo "$@"; }; COMP_CWORD=3; '
        "COMP_WORDS=(retrai run -m par); _retrai_completion retrai; "
        "COMP_CWORD=2; COMP_WORDS=(retrai run acm); _retrai_completion retrai; "
        'echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        [bash, "-c", ask],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines() == ["-o nospace", "parrot: acme"]


def test_another_shell_is_a_usage_error(retrai: Any) -> None:
    code, _, err = retrai("completion", "tcsh")
    assert (code, "'tcsh' is not one of" in err) == (2, True)


@pytest.mark.parametrize("shell", ASK)
def test_every_shell_has_its_script(retrai: Any, shell: str) -> None:
    code, out, _ = retrai("completion", shell)
    assert (code, f"{shell}_complete" in out) == (0, True)
