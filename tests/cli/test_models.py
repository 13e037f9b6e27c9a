"""`retrai models`: what can be used here, as it is typed after `-m`."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("retrai_llm_litellm")
pytest.importorskip("retrai_llm_offline")

from retrai_llm_litellm.available import DEFAULT_MODELS
from retrai_llm_litellm.known_models import KnownModels, litellm_folder

KEYS = ("_API_KEY", "_AUTH_TOKEN", "_TOKEN", "_API_BASE", "_BASE_URL")


@pytest.fixture(autouse=True)
def nothing_is_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, no login, and no server where one is looked for."""
    import os

    for name in list(os.environ):
        if name.endswith(KEYS):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GITHUB_COPILOT_TOKEN_DIR", str(tmp_path / "copilot"))
    nobody = "http://192.0.2.1:9"  # on no machine of ours, so it is not asked
    for name in ("OLLAMA_HOST", "LM_STUDIO_API_BASE", "HOSTED_VLLM_API_BASE", "LLAMAFILE_API_BASE"):
        monkeypatch.setenv(name, nobody)


@pytest.fixture
def ollama() -> Iterator[ThreadingHTTPServer]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            """Says nothing."""

        def do_GET(self) -> None:
            data = json.dumps({"models": [{"name": "qwen2.5-coder:7b"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def listed(retrai: Any, *args: object) -> dict[str, dict[str, Any]]:
    code, out, err = retrai("models", "--json", *args)
    assert code == 0, err
    found = json.loads(out)
    assert found["problems"] == []
    return {model["model"]: model for model in found["models"]}


def test_the_offline_model_is_always_there_and_the_rest_is_told(retrai, project) -> None:
    assert list(listed(retrai, "-C", project)) == ["offline"]
    code, out, _ = retrai("models", "-C", project)
    assert code == 0
    assert "-m offline" in out
    assert "ANTHROPIC_API_KEY" in out
    assert "Ollama" in out


def test_a_key_that_is_set_brings_the_model_that_it_is_for(
    retrai, project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret-secret")
    found = listed(retrai, "-C", project)
    assert found["claude-sonnet-4-6"]["source"] == "ANTHROPIC_API_KEY is set"
    assert found["claude-sonnet-4-6"]["local"] is False
    out = retrai("models", "-C", project)[1]
    assert "-m claude-sonnet-4-6" in out
    assert "sk-secret" not in out
    assert "GEMINI_API_KEY" not in out, "there is another model than the offline one"


def test_a_local_server_brings_its_models_and_a_run_takes_the_name(
    retrai, project, ollama: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"127.0.0.1:{ollama.server_port}"
    monkeypatch.setenv("OLLAMA_HOST", address)
    found = listed(retrai, "-C", project)
    model = found["ollama_chat/qwen2.5-coder:7b"]
    assert (model["source"], model["local"]) == (f"Ollama at {address}", True)


def test_the_model_of_the_configuration_is_listed_first_where_it_is_ready(
    retrai, project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".retrai.yml").write_text("model: mistral/codestral-latest\n")
    assert "mistral/codestral-latest" not in listed(retrai, "-C", project), "its key is missing"
    monkeypatch.setenv("MISTRAL_API_KEY", "x")
    assert next(iter(listed(retrai, "-C", project))) == "mistral/codestral-latest"


def test_a_provider_that_fails_keeps_no_other_from_the_list(
    retrai, project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "site" / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[retrai.llms]\nfails = acme_models:Fails\nnonsense = acme_models:Nonsense\n"
        "plain = acme_models:Plain\ngone = acme_models:Gone\n"
    )
    (tmp_path / "site" / "acme_models.py").write_text("""
from retrai_core import LLMProvider

class Plain(LLMProvider):
    name = "plain"
    model_patterns = ("plain-model", "plain:*")
    needs = frozenset({"network"})
    def create(self, model, temperature, context):
        raise NotImplementedError

class Fails(Plain):
    name = "fails"
    model_patterns = ("fails-model",)
    def available(self):
        raise SystemExit(3)

class Nonsense(Plain):
    name = "nonsense"
    model_patterns = ("nonsense-model",)
    def available(self):
        return ["a name"]
""")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    code, out, err = retrai("models", "-C", project)
    assert code == 0
    assert "-m plain-model" in out, "an exact pattern that is ready"
    assert "-m offline" in out
    for name in ("fails", "nonsense", "gone"):
        assert f"{name} of acme" in err.replace("`", "")


def test_litellm_is_not_imported_for_it(project) -> None:
    code = (
        "import sys; from retrai_core.cli.main import main\n"
        f"code = main(['models', '-C', {str(project)!r}])\n"
        "print(code, sorted({'litellm', 'langchain_core', 'openai'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr


@pytest.mark.parametrize("provider", DEFAULT_MODELS)
def test_litellm_knows_every_model_that_is_named_by_default(provider: str) -> None:
    folder = litellm_folder()
    assert folder is not None
    known = KnownModels.read(folder)
    assert known.keys_for(provider)
    for model in DEFAULT_MODELS[provider]:
        assert known.provider_of(model) == provider
        assert model in known.models or provider == "openrouter", "whose list is its own"
