"""Secrets are taken out, honest text is left as it is."""

from __future__ import annotations

import json
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_core.events import AgentEvent
from retrai_core.redaction.redactor import Redactor

PEM = """-----BEGIN RSA PRIVATE KEY-----
MIIEpAIBAAKCAQEA7bq3Zk0Yw1x2y3z4A5B6C7D8E9F0
kq3Zk0Yw1x2y3z4A5B6C7D8E9F0kq3Zk0Yw1x2y3z4A5
-----END RSA PRIVATE KEY-----"""


@pytest.mark.parametrize(
    "secret",
    [
        "AKIA" + "Q7" * 8,
        "ghp_" + "a1B2" * 9,
        "github_pat_" + "a1B2" * 8,
        "glpat-" + "a1B2" * 5,
        "sk-ant-api03-" + "a1B2" * 8,
        "sk-proj-" + "a1B2_" * 8,
        "AIza" + "a1B2_" * 7,
        "xoxb-12345678901-a1B2a1B2a1B2",
        "sk_live_" + "a1B2" * 6,
        "hf_" + "a1B2" * 8,
        "pypi-AgEIcHlwaS5vcmc" + "a1B2" * 15,
        "npm_" + "a1B2" * 9,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sgn4tur3-sgn4tur3",
    ],
)
@pytest.mark.parametrize("around", ["{}", "x={}\n", '{{"k": "{}"}}', "https://h/?q={}&b", "({})"])
def test_a_token_of_a_known_form_is_taken_out_wherever_it_stands(secret: str, around: str) -> None:
    text = Redactor().text(around.format(secret))
    assert secret not in text
    assert text.startswith(around.format("[redacted: ").partition("[")[0])


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('password = "hunter2!"', "hunter2!"),
        ("DB_PASSWORD=hunter2x", "hunter2x"),
        ("  password: hunter2x  # not yaml's\npassword: hunter2y", "hunter2y"),
        ('{"password":"hunter2!"}', "hunter2!"),
        ("mysql --password=hunter2x -u me", "hunter2x"),
        ("postgresql://app:hunter2x@db/shop", "hunter2x"),
        ("api_key='q8ZsT1mLr0pXv93K'", "q8ZsT1mLr0pXv93K"),
        ("Authorization: Bearer q8ZsT1mLr0pXv93K", "q8ZsT1mLr0pXv93K"),
        ("//registry.example/:_authToken=q8ZsT1mLr0pXv93K", "q8ZsT1mLr0pXv93K"),
        (f"key:\n{PEM}\nafter", "kq3Zk0Yw1x2y3z4A5B6C7D8E9F0kq3Zk0Yw1x2y3z4A5"),
        (PEM[:90], "MIIEpAIBAAKCAQEA7bq3Zk0Yw1x2y3z4A5B6C7D8E9F0"),
    ],
)
def test_what_its_name_or_frame_makes_a_secret_is_taken_out(text: str, secret: str) -> None:
    redacted = Redactor().text(text)
    assert secret not in redacted
    assert "[redacted: " in redacted


@pytest.mark.parametrize(
    "text",
    [
        'login(user, password="secret123")',
        "password = get_password(user1)",
        "def check(password: str, token: Token2) -> bool:",
        "token = next(tokens1)",
        "SECRET_KEY = 'change-me-2024'",
        "A = b'-----BEGIN EC PRIVATE KEY-----'\nx = 1\nB = b'-----END EC PRIVATE KEY-----'",
        "client.login(username='jo', password='pass1234')",
        "url = 'https://foo.com:123,foo:bar@bar.com/path'",
        "password=None, api_key=os.environ['API_KEY_2']",
        "postgres://postgres:postgres@localhost/test",
        "see https://example.com/a:b@2 and sk-cube-grid-animation",
        "assert sign('value', key='secret-key') == b'value.1cI5Z'",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    ],
)
def test_source_code_and_its_tests_stay_readable(text: str) -> None:
    assert Redactor().text(text) == text


def test_the_standard_librarys_source_is_left_as_it_is() -> None:
    folder = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(folder.glob("[a-i]*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        assert Redactor().text(text) == text, path


NAMES = st.from_regex(r"[A-Z]{1,8}_(PASSWORD|SECRET|TOKEN|API_KEY)", fullmatch=True)
VALUES = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_characters="\"'`#$\\[]\x7f"),
    min_size=8,
    max_size=40,
).filter(lambda value: not value.isspace() and value == value.strip() and "://" not in value)


@given(secrets=st.dictionaries(NAMES, VALUES, min_size=1, max_size=6), glue=st.text(max_size=20))
def test_no_secret_of_an_env_file_gets_through(
    tmp_path_factory: pytest.TempPathFactory, secrets: dict[str, str], glue: str
) -> None:
    folder = tmp_path_factory.mktemp("project")
    lines = [f"{name}='{value}'\n" for name, value in secrets.items()]
    (folder / ".env.local").write_text("".join(lines), encoding="utf-8")
    redactor = Redactor.of(folder, {})
    whole = glue.join(["".join(lines), *secrets.values(), json.dumps(secrets)])
    once = redactor.text(whole)
    event = redactor.event(AgentEvent("log", "r1", 0, {"deep": [{"er": whole}]}))
    for value in secrets.values():
        # A value may be part of a mark ("redacted"), or of another's name.
        marks = " ".join(f"[redacted: .env.local {name}]" for name in secrets)
        if value not in marks:
            assert value not in once
            # The form around it has words of its own (`iteration`).
            assert value not in json.dumps(event.payload)
    assert redactor.text(once) == once


def test_plain_settings_of_an_env_file_are_no_secrets(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "DEBUG=true\nPORT=8000\nREGION=us-east-1\nMODEL=claude-sonnet-4-6\nPOSTGRES_PASSWORD=postgres\n"
        "TOKEN_TTL=3600\nDATABASE_URL=postgres://postgres:postgres@db/shop\nHOME_PAGE=https://a.b/c1\n"
    )
    text = "true 8000 us-east-1 claude-sonnet-4-6 postgres 3600 https://a.b/c1"
    assert Redactor.of(tmp_path, {}).text(text) == text


def test_a_short_secret_is_taken_where_it_stands_alone(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PIN_TOKEN=x7q2\n")
    assert Redactor.of(tmp_path, {}).text("x7q2, ax7q2b") == "[redacted: .env PIN_TOKEN], ax7q2b"


def test_keys_of_the_environment_and_of_key_files_are_known(tmp_path: Path) -> None:
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "id_ed25519").write_text(PEM)
    (tmp_path / ".env.example").write_text("API_KEY=put-your-own-key-here-1\n")
    redactor = Redactor.of(tmp_path, {"ACME_API_KEY": "plainwords", "PATH": "/usr/bin:/bin"})
    assert "plainwords" not in redactor.text("it is plainwords")
    part = PEM.split("\n")[2]
    assert redactor.text(f"2: {part}") == "2: [redacted: id_ed25519]"
    assert redactor.text("put-your-own-key-here-1 /usr/bin:/bin").startswith("put-your")


def test_a_secret_that_appears_later_is_known_after_a_refresh(tmp_path: Path) -> None:
    redactor = Redactor.of(tmp_path, {})
    (tmp_path / ".env").write_text("A_SECRET=correct-horse\n")
    redactor.refresh()
    assert "correct-horse" not in redactor.text("correct-horse")
    (tmp_path / ".env").write_text("A_SECRET=battery-staple\n")
    redactor.refresh()
    assert "horse" not in redactor.text("correct-horse battery-staple")


def test_a_pipe_or_a_folder_in_the_place_of_an_env_file_hangs_nothing(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / ".env")
    (tmp_path / "server.key").mkdir()
    assert Redactor.of(tmp_path, {}).text("text") == "text"


def test_marks_are_known_again(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A_SECRET=correct-horse\n")
    redactor = Redactor.of(tmp_path, {})
    assert redactor.mark_in({"old": ["x [redacted: .env A_SECRET] y"]})
    assert redactor.mark_in({"old": "x [redacted: AWS key]"})
    assert redactor.mark_in({"old": "[redacted: for the public]", "n": 3}) is None
