"""The option `embedder`: ranking by meaning, over the wire and by a model in a folder."""

from __future__ import annotations

import importlib.util
import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from retrai_codeindex import Index
from retrai_core import UsageError

for needed in ("litellm", "numpy", "tokenizers"):
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed", allow_module_level=True)
CODE = """
def obtain(address):
    return wire.ask(address)


def squash(text):
    return text.strip()


def fetch_nothing(x):
    return x.up
"""


class EmbeddingServer:
    """OpenAI's `/embeddings`: texts that name the network point one way, all others another."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.fails = False
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append({"path": self.path, **body})
                rows = [
                    {"object": "embedding", "index": number, "embedding": vector(text)}
                    for number, text in enumerate(body["input"])
                ]
                usage = {"prompt_tokens": 1, "total_tokens": 1}
                answer = {"object": "list", "data": rows[::-1], "model": "m", "usage": usage}
                data = json.dumps({"error": {"message": "no"}} if server.fails else answer).encode()
                self.send_response(401 if server.fails else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()

    @property
    def texts(self) -> list[str]:
        return [text for request in self.requests for text in request["input"]]

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


def vector(text: str) -> list[float]:
    return [2.0, 0.0] if "obtain" in text or "download" in text.split() else [0.0, 2.0]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    made = EmbeddingServer()
    monkeypatch.setenv("OPENAI_API_BASE", made.url)
    monkeypatch.setenv("OPENAI_BASE_URL", made.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    yield made
    made.close()


def opened(project: Any) -> Index:
    return Index.open(project.folder, embedder="litellm:openai/text-embedding-3-small", jobs=1)


def test_hits_are_ranked_by_meaning_and_embedded_once(project, server: EmbeddingServer) -> None:
    project.write("a.py", CODE)
    loads = (
        "def load_item(path):\n    return horse\n\n\ndef load_path(item):\n    return download\n"
    )
    project.write("b.py", loads)
    question = "load item download"

    with opened(project) as index:
        words = [hit.symbol for hit in project.index.search("load item")]
        meaning = [hit.symbol for hit in index.search(question)]
        assert (words[0], meaning[0]) == ("load_item", "load_path")
        first = len(server.texts)
        index.search(question)
        assert server.texts[first:] == [question]

        project.write("b.py", f"\n\n{loads}")
        index.update(jobs=1)
        before = len(server.texts)
        index.search(question)
        assert "load_path" not in " ".join(server.texts[before:]), "moved, with the same text"


def test_what_only_meaning_finds_is_found_once_everything_is_embedded(
    project, server: EmbeddingServer
) -> None:
    project.write("a.py", CODE)

    with opened(project) as index:
        assert "obtain" not in [hit.symbol for hit in index.search("download")]
        assert index.embed() > 0
        assert index.search("download")[0].symbol == "obtain"
        assert index.embed() == 0
        project.write("c.py", "def obtain_more():\n    pass\n")
        index.update(jobs=1)
        assert {"obtain", "obtain_more"} <= {hit.symbol for hit in index.search("download")}
        assert index.embed() == 0


Retrai = Callable[..., CompletedProcess[str]]


def test_the_command_embeds_and_says_what_is_wrong(
    project, server: EmbeddingServer, retrai_here: Retrai
) -> None:
    project.write("a.py", CODE)
    env = {**os.environ, "RETRAI_INDEX_EMBEDDER": "litellm:openai/text-embedding-3-small"}
    at = ("-C", str(project.folder))

    made = retrai_here("index", *at, "--embed", env=env)
    assert made.returncode == 0, made.stderr
    assert "embedded" in made.stdout
    found = retrai_here("index", "search", "download", *at, "--json", env=env)
    assert json.loads(found.stdout)[0]["symbol"] == "obtain"
    server.fails = True
    failed = retrai_here("index", "search", "another download", *at, env=env)
    assert failed.returncode == 2
    assert "litellm:openai/text-embedding-3-small" in failed.stderr
    assert "sk-of-a-test" not in failed.stderr
    unknown = retrai_here("index", "search", "x", *at, "--embedder", "word2vec", env=env)
    assert (unknown.returncode, "litellm:MODEL" in unknown.stderr) == (2, True)


def test_a_model_in_a_folder_is_run_here(project, tmp_path: Path) -> None:
    project.write("a.py", CODE)
    folder = small_model(tmp_path / "model")

    with Index.open(project.folder, embedder=f"local:{folder}", jobs=1) as index:
        index.embed()
        symbols = {hit.symbol for hit in index.search("squash")}
        assert {"obtain", "squash", "fetch_nothing"} <= symbols


def test_equal_texts_have_equal_vectors_whatever_they_are_batched_with(tmp_path: Path) -> None:
    import numpy as np

    from retrai_codeindex.embedders import embedder_of

    embedder = embedder_of(f"local:{small_model(tmp_path / 'model')}")
    alone = embedder.embed(["read file"])
    among = embedder.embed(["read", "read file", "read file read file read"])
    assert np.allclose(alone[0], among[1], atol=1e-5)
    assert not np.allclose(alone[0], among[0], atol=1e-2)
    assert np.allclose(np.linalg.norm(among, axis=1), 1)


def test_a_folder_without_a_model_is_refused(project, tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    project.write("a.py", CODE)
    with (
        Index.open(project.folder, embedder=f"local:{tmp_path}", jobs=1) as index,
        pytest.raises(UsageError, match="no model that can be read"),
    ):
        index.search("squash")


def small_model(folder: Path) -> Path:
    """A BERT encoder of one layer with random weights."""
    pytest.importorskip("safetensors")
    import numpy as np
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder.mkdir()
    words = ["[PAD]", "[UNK]", "read", "file", "squash", "obtain", "text"]
    tokenizer = Tokenizer(models.WordLevel({w: n for n, w in enumerate(words)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"num_attention_heads": 2, "num_hidden_layers": 1, "layer_norm_eps": 1e-12}
    (folder / "config.json").write_text(json.dumps(config))
    random, size = np.random.default_rng(1), 8
    weights = {
        "embeddings.word_embeddings.weight": (len(words), size),
        "embeddings.position_embeddings.weight": (64, size),
        "embeddings.token_type_embeddings.weight": (2, size),
    }
    at = "encoder.layer.0"
    for name, shape in (
        ("embeddings.LayerNorm", (size,)),
        (f"{at}.attention.self.query", (size, size)),
        (f"{at}.attention.self.key", (size, size)),
        (f"{at}.attention.self.value", (size, size)),
        (f"{at}.attention.output.dense", (size, size)),
        (f"{at}.attention.output.LayerNorm", (size,)),
        (f"{at}.intermediate.dense", (16, size)),
        (f"{at}.output.dense", (size, 16)),
        (f"{at}.output.LayerNorm", (size,)),
    ):
        weights |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    made = {name: random.normal(size=shape).astype(np.float32) for name, shape in weights.items()}
    save_file(made, folder / "model.safetensors")
    return folder
