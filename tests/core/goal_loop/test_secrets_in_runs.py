"""No secret of a project reaches its run's files or the model, and none is destroyed."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Runs = Any

VALUES = st.text("abcdefghijkmnpqrstuvwxyz23456789-_%+", min_size=6, max_size=28).map("q7".__add__)
"""No word that retrai itself writes into a run's files: hypothesis would find `message-`."""


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"text": f"calling {name}", "calls": [{"name": name, "args": args}]}


def kept(folder: Path) -> str:
    """Everything that a run keeps of what was said, in one text; SQLite's pages as they are."""
    files = [path for path in folder.rglob("*") if path.is_file() and "snapshots" not in path.parts]
    assert {"events.jsonl", "journal.jsonl", "checkpoint.sqlite"} <= {path.name for path in files}
    with sqlite3.connect(folder / "checkpoint.sqlite") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return "\n".join(path.read_bytes().decode("latin-1") for path in files)


@settings(
    max_examples=4,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(secrets=st.lists(VALUES, min_size=2, max_size=4, unique=True))
async def test_no_secret_of_an_env_file_is_kept_or_told(
    runs: Runs, project: Path, secrets: list[str]
) -> None:
    names = [f"SERVICE{number}_PASSWORD" for number in range(len(secrets))]
    lines = [f"{name}='{value}'" for name, value in zip(names, secrets, strict=True)]
    (project / ".env").write_text("\n".join(lines))
    # In the key files that the first prompt shows, and in what the check says.
    (project / "AGENTS.md").write_text(f"Log in with {secrets[0]}.")
    (project / "expected.txt").write_text(f"a.txt: right\n{secrets[1]}.txt: there\n")
    record = await runs.run(
        [
            call("look", path=".env"),
            call("shell", line="cat .env; echo; rev .env | rev >&2; base64 -w0 </dev/null"),
            call("look", path="AGENTS.md"),
        ],
        max_iterations=3,
        task=f"It must go on working with {secrets[0]}.",
    )
    folder = runs.store.folder(record.id)
    told = json.dumps(runs.seen(record))
    assert "[redacted: .env SERVICE0_PASSWORD]" in told
    assert "SERVICE1_PASSWORD='[redacted: " in told
    # The record holds the task in the user's own words, and the baseline copies of files.
    everything = kept(folder)
    for secret in secrets:
        assert secret not in told
        for name in ("events.jsonl", "journal.jsonl"):
            assert secret not in (folder / name).read_text(encoding="utf-8")
        assert secret.encode() not in (folder / "checkpoint.sqlite").read_bytes()
    assert "redacted" in everything


async def test_a_call_that_would_write_a_mark_is_refused_and_the_file_is_whole(
    runs: Runs, project: Path
) -> None:
    (project / ".env").write_text("DEBUG=1\nA_PASSWORD=correct-horse\n")
    record = await runs.run(
        [call("put", path=".env", text="DEBUG=0\nA_PASSWORD=[redacted: .env A_PASSWORD]\n")],
        max_iterations=1,
    )
    (result,) = runs.events(record, "tool_result")
    assert result.payload["error"]
    assert (
        "[redacted: .env A_PASSWORD] stands where a secret was taken out"
        in (result.payload["content"])
    )
    assert (project / ".env").read_text().endswith("A_PASSWORD=correct-horse\n")


async def test_the_half_of_a_secret_is_not_told_where_a_result_is_cut(
    runs: Runs, project: Path
) -> None:
    secret = "horse" * 200
    (project / ".env").write_text(f"A_PASSWORD={secret}\n")
    line = (
        "head -c 5200 /dev/zero | tr '\\0' x; cut -d= -f2 .env; head -c 5000 /dev/zero | tr '\\0' y"
    )
    record = await runs.run([call("shell", line=line)], max_iterations=1)
    (result,) = runs.events(record, "tool_result")
    assert "horse" not in result.payload["content"]
