"""The contract of sandboxes."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import psutil
import pytest

from retrai_core import Completed, Limits, ToolError
from retrai_core.plugins.kinds import Kind

from ..bench import Bench
from ..footprint import Footprint
from .built import BuiltConformance, cancelled
from .clear_errors import require_clear_error

_TIMEOUT_S = 30.0


class SandboxConformance(BuiltConformance):
    """The contract of a sandbox, as tests: inherit it and name the class.

    Example:
        >>> from retrai_sandbox_local.sandbox import LocalSandbox
        >>> class TestLocal(SandboxConformance):
        ...     plugin = LocalSandbox
        >>> import tempfile
        >>> TestLocal().test_a_program_s_end_is_told(Path(tempfile.mkdtemp()), {})
    """

    kind: ClassVar[Kind] = "sandbox"

    def test_the_probe_finds_that_it_works(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """`probe` runs something and says None where the sandbox works."""

        async def use(bench: Bench, sandbox: Any) -> str | None:
            return await sandbox.probe()

        assert self.drive(tmp_path, plugin_options, use) is None

    def test_a_program_s_end_is_told(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Exit code, standard output and standard error come apart; a signal is its negative."""
        done = self._run(tmp_path, plugin_options, "echo out; echo err >&2; exit 3")
        assert (done.exit_code, done.stdout, done.stderr) == (3, "out\n", "err\n")
        assert not done.timed_out
        assert done.duration_s >= 0
        assert self._run(tmp_path, plugin_options, ["true"]).exit_code == 0
        assert self._run(tmp_path, plugin_options, "kill -9 $$").exit_code == -9

    def test_arguments_are_not_for_the_shell(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """A list of arguments reaches the program as it is, a string goes through bash."""
        odd = "a b;*$HOME'\""
        assert self._run(tmp_path, plugin_options, ["printf", "%s", odd]).stdout == odd
        assert self._run(tmp_path, plugin_options, "[[ 1 -lt 2 ]] && echo bash").stdout == "bash\n"

    def test_it_runs_in_the_project(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """The project is the folder, or `cwd`; what a command writes there stays."""

        async def use(bench: Bench, sandbox: Any) -> None:
            (bench.project / "sub").mkdir()
            await sandbox.run("echo hello > made.txt", timeout_s=_TIMEOUT_S)
            assert (bench.project / "made.txt").read_text() == "hello\n"
            done = await sandbox.run(["pwd"], timeout_s=_TIMEOUT_S, cwd=bench.project / "sub")
            assert done.stdout.strip().endswith("/sub")

        self.drive(tmp_path, plugin_options, use)

    def test_keys_of_the_user_never_get_in(
        self,
        tmp_path: Path,
        plugin_options: Mapping[str, Any],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """A command sees the variables that it is given, and no API key."""
        secret = uuid.uuid4().hex
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "MY_TOKEN"):
            monkeypatch.setenv(name, secret)
        done = self._run(tmp_path, plugin_options, ["env"], env={"GIVEN": "yes"})
        assert "GIVEN=yes" in done.stdout.splitlines()
        assert secret not in done.stdout
        assert "PATH=" in done.stdout

    def test_it_reads_what_it_is_given(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """`stdin` is the command's input; without it there is none, and never the terminal."""
        given = self._run(tmp_path, plugin_options, ["cat"], stdin=b"some input")
        assert given.stdout == "some input"
        assert self._run(tmp_path, plugin_options, ["cat"]).stdout == ""
        large = self._run(tmp_path, plugin_options, ["wc", "-c"], stdin=b"x" * 300_000)
        assert large.stdout.strip() == "300000"

    def test_folders_outside_the_project_are_given(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """What `writable` and `readable` name can be written and read."""
        report, data = tmp_path / "report", tmp_path / "data"
        report.mkdir()
        data.mkdir()
        (data / "in.txt").write_text("from outside")
        line = f"cat {data}/in.txt && echo done > {report}/out.txt"
        done = self._run(tmp_path, plugin_options, line, writable=[report], readable=[data])
        assert done.stdout == "from outside", done.stderr
        assert (report / "out.txt").read_text() == "done\n"

    def test_output_is_text_whatever_is_printed(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Bytes that are no UTF-8 are replaced."""
        done = self._run(tmp_path, plugin_options, r"printf 'a\377b\000c'")
        assert done.stdout.startswith("a")
        assert "\ufffd" in done.stdout

    def test_long_output_is_cut_in_the_middle(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Each stream keeps its first and last part, and a line says how much was left out."""
        line = "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last"
        done = self._run(tmp_path, plugin_options, line, limits=Limits(output_bytes=2000))
        assert done.stdout.startswith("first")
        assert done.stdout.rstrip().endswith("last")
        assert len(done.stdout) < 3000

    def test_a_file_can_be_limited(self, tmp_path: Path, plugin_options: Mapping[str, Any]) -> None:
        """`Limits.file_bytes` ends a command that writes a larger file."""
        line = "head -c 3000000 /dev/zero > big.bin"
        limits = Limits(file_bytes=100_000)
        assert self._run(tmp_path, plugin_options, line, limits=limits).exit_code != 0
        assert (tmp_path / "project" / "big.bin").stat().st_size <= 100_000

    @pytest.mark.parametrize("command", [["no-such-program-anywhere"], [], [""], ["a\0b"]])
    def test_what_cannot_be_started_is_a_tool_error(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], command: list[str]
    ) -> None:
        """A program that does not exist: ToolError in one line, for the model to read."""
        with pytest.raises(ToolError) as caught:
            self._run(tmp_path, plugin_options, command)
        require_clear_error(caught.value)

    def test_a_time_out_ends_everything(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """After `timeout_s` the command and all that it started is ended; its output is kept."""
        nap = _nap()
        line = f"echo begun; ({nap}) & {nap}"
        done = self._run(tmp_path, plugin_options, line, timeout_s=1)
        assert done.timed_out
        assert done.exit_code != 0
        assert "begun" in done.stdout
        assert not _asleep(nap)

    def test_what_goes_on_in_the_background_is_ended(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """When the command ends, so does what it left in the background, also in a new session."""
        nap = _nap()
        done = self._run(
            tmp_path, plugin_options, f"setsid {nap} >/dev/null 2>&1 & {nap} & echo ok"
        )
        assert done.stdout == "ok\n"
        assert not done.timed_out
        assert not _asleep(nap)

    def test_cancelling_ends_everything(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """When the awaiting task is cancelled, nothing of the command lives on."""
        nap = _nap()

        async def use(bench: Bench, sandbox: Any) -> bool:
            work = sandbox.run(f"({nap}) & {nap}", timeout_s=600)
            await cancelled(work, until=lambda: _asleep(nap))
            return _asleep(nap)

        assert not self.drive(tmp_path, plugin_options, use), "a process lives on"

    def test_closing_ends_what_still_runs(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """`aclose` leaves no command behind, and may be called again."""
        nap = _nap()

        async def use(bench: Bench, sandbox: Any) -> None:
            task = asyncio.ensure_future(sandbox.run(nap, timeout_s=600))
            while not _asleep(nap):
                assert not task.done(), f"it ended by itself: {task}"
                await asyncio.sleep(0.01)
            await sandbox.aclose()
            await asyncio.gather(task, return_exceptions=True)
            await sandbox.aclose()

        before = Footprint(self.package)
        self.drive(tmp_path, plugin_options, use)
        assert not _asleep(nap)
        self.require_unchanged(before.changes())

    def test_commands_side_by_side_do_not_mix(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Several commands at once, of two instances, each get their own output and end."""

        async def use(bench: Bench, sandbox: Any) -> list[Completed]:
            other = self.build(bench, plugin_options)
            try:
                runs = [
                    which.run(f"echo {number}; exit {number}", timeout_s=_TIMEOUT_S)
                    for number, which in enumerate([sandbox, other] * 3)
                ]
                return await asyncio.gather(*runs)
            finally:
                await other.aclose()

        done = self.drive(tmp_path, plugin_options, use)
        found = [(one.exit_code, one.stdout) for one in done]
        assert found == [(number, f"{number}\n") for number in range(6)]

    def _run(
        self, base: Path, options: Mapping[str, Any], command: Any, **arguments: Any
    ) -> Completed:
        async def use(bench: Bench, sandbox: Any) -> Completed:
            return await sandbox.run(command, **{"timeout_s": _TIMEOUT_S, **arguments})

        done = self.drive(base, options, use)
        assert isinstance(done, Completed)
        return done


def _nap() -> str:
    """A command that waits long and can be told from all others, also from outside a sandbox."""
    return f"sleep {uuid.uuid4().int % 10**12 + 10**6}"


def _asleep(nap: str) -> bool:
    """Whether a process of `nap` lives."""
    for process in psutil.process_iter():
        try:
            if process.cmdline() == nap.split() and process.status() != psutil.STATUS_ZOMBIE:
                return True
        except psutil.Error:
            continue  # it has ended meanwhile, or is not ours
    return False
