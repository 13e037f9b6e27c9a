"""The tokens of a text, and on which side the estimate errs."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from retrai_react.tokens import TokenCounter, estimate

from .wire import Service

ROOT = Path(__file__).parents[2]
SCRIPTS = {
    "chinese": "检索增强生成是一种将大型语言模型与外部知识库结合的方法。",
    "japanese": "この関数はファイルを読み込み、行ごとに処理します。",
    "russian": "Эта функция читает файл и обрабатывает его построчно.",
    "german": "Diese Funktion verarbeitet Geschwindigkeitsbegrenzungen zeilenweise.",
    "arabic": "تقرأ هذه الدالة الملف وتعالجه سطرا بسطر",
    "hindi": "यह फ़ंक्शन फ़ाइल को पढ़ता है और उसे संसाधित करता है",
    "emoji": "🙂🚀👩‍👩‍👧🔥",
}


def samples() -> dict[str, str]:
    chance = random.Random(1)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return {
        "python": Path(__file__).read_text() * 5,
        "prose": (ROOT / "README.md").read_text(),
        "json": (ROOT / "docs" / "run-record.schema.json").read_text(),
        "toml": (ROOT / "pyproject.toml").read_text(),
        "base64": "".join(chance.choice(letters) for _ in range(5_000)),
        "hex": "".join(chance.choice("0123456789abcdef") for _ in range(5_000)),
        "csv": "\n".join(",".join(str(chance.random()) for _ in range(5)) for _ in range(50)),
        "signs": "".join(chance.choice("!@#$%^&*()[]{};:,.<>/?|~`") for _ in range(3_000)),
        **{name: text * 20 for name, text in SCRIPTS.items()},
    }


@pytest.mark.parametrize("model", ["openai/gpt-4o", "gpt-4"])
def test_the_estimate_is_on_the_safe_side(model: str) -> None:
    counter = TokenCounter.of(model)
    assert counter.is_exact
    for name, text in samples().items():
        ratio = estimate(text) / counter.count(text)
        assert ratio >= 1, name
        assert ratio <= (1.5 if name in ("python", "prose", "json", "toml") else 3.2), name


def test_other_models_are_estimated() -> None:
    for model in ("anthropic/claude-opus-4", "ollama/llama3", "nobody"):
        assert not TokenCounter.of(model).is_exact


def test_a_long_word_takes_no_time() -> None:
    """tiktoken's own time grows with the square of it: minutes for this one."""
    counter = TokenCounter.of("openai/gpt-4o")
    began = time.process_time()
    assert counter.count("a" * 1_000_000) > 10_000
    assert time.process_time() - began < 20


def test_a_text_is_cut_to_its_tokens() -> None:
    counter = TokenCounter.of("openai/gpt-4o")
    text = Path(__file__).read_text()
    for tokens in (0, 1, 50, 400):
        short = counter.cut(text, tokens)
        assert counter.count(short) <= tokens
        assert text.startswith(short)
    assert counter.count(counter.cut(text, 400)) > 300


def test_the_route_counts(react: Service) -> None:
    body = {"text": "Where is the price computed?", "modelName": "openai/gpt-4o"}
    answer = react.http.post("/api/context/token_count", json=body)
    assert answer.json() == {"token_count": 6, "is_exact": True, "method": "o200k_base"}
    answer = react.http.post("/api/context/token_count", json={"text": "Where is it?"})
    assert answer.json()["is_exact"] is False
    assert answer.json()["token_count"] >= 4
    assert "estimate" in answer.json()["method"]
    wrong = react.http.post("/api/context/token_count", json={"text": 7})
    assert wrong.status_code == 400
    assert "text" in wrong.json()["details"]["fieldErrors"]
