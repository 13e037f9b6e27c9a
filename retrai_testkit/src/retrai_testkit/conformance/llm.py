"""The contract of model providers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar

import pytest

from retrai_core import PluginError, RetraiError, RunContext
from retrai_core.contracts.llm import create_model
from retrai_core.plugins.kinds import Kind

from ..bench import Bench
from ..footprint import Footprint
from ..import_probe import probe
from ..overriding import NotApplicable
from .built import BuiltConformance
from .clear_errors import require_clear_error, require_clear_line
from .plugin import required

_KEY = "sk-of-a-caller-0123456789"
_TOOL = {
    "type": "function",
    "function": {
        "name": "put_file",
        "description": "Write a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
}


@dataclass(frozen=True)
class _Asked:
    """What a model did.

    Attributes:
        model: as it was made.
        with_tools: its answer with a tool bound.
        costs: of an answer without tools, of several numbers of tokens, of an unknown model.
        left: what the whole of it left changed in our process.
    """

    model: Any
    with_tools: Any
    costs: Sequence[Any]
    left: Sequence[str] = ()


class LLMProviderConformance(BuiltConformance):
    """The contract of a model provider, as tests: inherit it and name a model.

    The model is asked for real: give one that answers without the internet (for a hosted API the
    fixture `fake_llm_server`, through the fixtures `plugin_options` and `ready_environment`).

    Attributes:
        model: the name of a model that the provider serves.
        bad_model: the name of a model that matches the provider's patterns and cannot be made.
        unready_model: the model that is not ready where `ready_environment` was not used.
        prompt: what the model is asked.

    Example:
        >>> from retrai_core import LLMProvider
        >>> class Echo(LLMProvider):
        ...     name = "echo"
        ...     model_patterns = ("echo",)
        ...     def create(self, model, temperature, context, api_key=None):
        ...         from langchain_core.language_models import FakeListChatModel
        ...         return FakeListChatModel(responses=["hello"])
        >>> class TestEcho(LLMProviderConformance):
        ...     plugin = Echo
        ...     model = "echo"
        ...     bad_model = NotApplicable("there is one model")
        ...     unready_model = NotApplicable("it needs no key")
        >>> TestEcho().test_its_patterns_name_the_model()
    """

    kind: ClassVar[Kind] = "llm"
    model: str = ""
    bad_model: str | NotApplicable | None = None
    unready_model: str | NotApplicable | None = None
    prompt: str = "Say hello."

    @pytest.fixture
    def ready_environment(self) -> None:
        """Set what the model needs to be ready (a key); nothing when left out."""

    def test_its_patterns_name_the_model(self) -> None:
        """A model's name leads to its provider by `model_patterns`: exact, `prefix*` or `*`."""
        patterns = tuple(self.plugin.model_patterns)
        assert patterns, "without a pattern nobody can choose its models"
        assert all("*" not in pattern[:-1] for pattern in patterns), "`*` stands only at the end"
        model = required(self.model, "give `model`: a name that it serves")
        assert any(fnmatchcase(model, pattern) for pattern in patterns)

    @pytest.mark.usefixtures("ready_environment")
    def test_the_model_is_ready(self, tmp_path: Path, plugin_options: Mapping[str, Any]) -> None:
        """`ready` says None for a model that can be used, each time."""

        async def use(bench: Bench, provider: Any) -> None:
            assert provider.ready(self.model) is None
            assert provider.ready(self.model) is None

        self.drive(tmp_path, plugin_options, use)

    def test_what_is_missing_is_said_before_the_run(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """A missing key or file is a line from `ready`, or a RetraiError; no traceback later."""
        model = required(self.unready_model, "give `unready_model`: one whose key is missing")

        async def use(bench: Bench, provider: Any) -> None:
            try:
                problem = provider.ready(model)
            except Exception as error:  # noqa: BLE001 - whatever it raises is judged
                require_clear_error(error)
            else:
                assert problem, "it calls a model ready that is not"
                require_clear_line(problem)

        self.drive(tmp_path, plugin_options, use)

    def test_asking_whether_it_is_ready_is_cheap(self) -> None:
        """`ready` imports nothing heavy: it is called before anything else of the run."""
        name = self.plugin.__qualname__
        code = (
            f"from {self.module} import {name} as P\n"
            f"try: P(P.Options.model_construct(), None).ready({self.model!r})\n"
            "except Exception: pass"
        )
        heavy = [name for name in probe(code).heavy if name not in self.heavy_imports]
        assert not heavy, f"`ready` brings in {', '.join(heavy)}"

    @pytest.mark.usefixtures("ready_environment")
    def test_it_makes_a_chat_model_that_answers(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """`create` gives a LangChain chat model that binds tools and answers with an AIMessage."""
        from langchain_core.language_models import BaseChatModel
        from langchain_core.messages import AIMessage

        seen = self._ask_model(tmp_path, plugin_options, kept)
        assert isinstance(seen.model, BaseChatModel)
        answer = seen.with_tools
        assert isinstance(answer, AIMessage)
        assert answer.content or answer.tool_calls or answer.invalid_tool_calls, "no answer"
        for call in answer.tool_calls:
            assert call["name"]
            assert call["id"], "the journal needs each call's id"

    @pytest.mark.usefixtures("ready_environment")
    def test_the_cost_of_an_answer_is_a_price_or_unknown(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """`cost_usd` gives dollars, or None where the price is not known; it raises nothing."""
        for cost in self._ask_model(tmp_path, plugin_options, kept).costs:
            assert cost is None or (isinstance(cost, (int, float)) and cost >= 0)

    def test_a_caller_may_bring_a_key(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """`create` takes `api_key`: it makes the model, or says why not; it shows no key."""

        async def use(bench: Bench, provider: Any) -> None:
            self.prepare_context(bench.context)
            before = dict(os.environ)
            try:
                shown = repr(create_model(provider, self.model, 0.0, bench.context, _KEY))
            except PluginError:
                raise
            except RetraiError as error:
                require_clear_error(error)
                shown = str(error)
            assert _KEY not in shown, "the key is shown"
            assert dict(os.environ) == before, "the key may be in the environment"

        self.drive(tmp_path, plugin_options, use)

    @pytest.mark.usefixtures("ready_environment")
    def test_what_is_available_can_be_chosen(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """`available` names models that the provider serves and calls ready, each with a reason."""

        async def use(bench: Bench, provider: Any) -> None:
            for found in await asyncio.to_thread(provider.available):
                assert found.source.strip(), f"why can {found.model} be used?"
                patterns = self.plugin.model_patterns
                assert any(fnmatchcase(found.model, pattern) for pattern in patterns), found.model
                assert provider.ready(found.model) is None

        self.drive(tmp_path, plugin_options, use)

    def test_tokens_are_counted_or_left_to_an_estimate(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """`count_tokens` gives a number that grows with the text, or None."""

        async def use(bench: Bench, provider: Any) -> None:
            texts = ["", "one word", "one word " * 100]
            counts = [provider.count_tokens(self.model, text) for text in texts]
            assert counts == [None] * 3 or (None not in counts and counts == sorted(counts))

        self.drive(tmp_path, plugin_options, use)

    @pytest.mark.usefixtures("ready_environment")
    def test_a_model_that_cannot_be_made_is_said_in_one_line(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Either `ready` says it, or `create` raises a RetraiError."""
        model = required(self.bad_model, "give `bad_model`: one that cannot be made")

        async def use(bench: Bench, provider: Any) -> None:
            try:
                problem = provider.ready(model)
                if problem is None:
                    provider.create(model, 0.0, bench.context)
            except Exception as error:  # noqa: BLE001 - whatever it raises is judged
                require_clear_error(error)
            else:
                require_clear_line(problem or "")

        self.drive(tmp_path, plugin_options, use)

    @pytest.mark.usefixtures("ready_environment")
    def test_warming_up_works_in_a_thread(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """`warm_up` may run in another thread, twice, and beside `create`."""

        async def use(bench: Bench, provider: Any) -> None:
            bench.context.model_name = self.model
            await asyncio.gather(
                asyncio.to_thread(provider.warm_up),
                asyncio.to_thread(provider.warm_up),
                asyncio.to_thread(self._created, bench, provider),
            )

        self.drive(tmp_path, plugin_options, use)

    @pytest.mark.usefixtures("ready_environment")
    def test_cancelling_a_request_ends_it(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """A stopped run waits for no answer, and leaves no process."""

        async def use(bench: Bench, provider: Any) -> Sequence[str]:
            model = self._created(bench, provider)
            await model.ainvoke(self.prompt)  # helpers that stay for the run are there now
            before = Footprint(self.package)
            task = asyncio.ensure_future(model.ainvoke(self.prompt))
            await asyncio.sleep(0)  # it has begun
            task.cancel()
            _, waiting = await asyncio.wait({task}, timeout=20)
            assert not waiting, "20 s after its cancellation it is still at work"
            with suppress(asyncio.CancelledError, RetraiError):
                await task
            return await asyncio.to_thread(before.processes_left_running)

        left = self.drive(tmp_path, plugin_options, use)
        assert not left, "; ".join(left)

    @pytest.mark.usefixtures("ready_environment")
    def test_two_runs_share_nothing(
        self, tmp_path: Path, plugin_options: Mapping[str, Any]
    ) -> None:
        """Models of two runs answer side by side, and each uses only its own run's parts."""

        async def work() -> None:
            async with (
                self.prepared(tmp_path / "one") as one,
                self.prepared(tmp_path / "two") as two,
            ):
                providers = [self.build(bench, plugin_options) for bench in (one, two)]
                models = [
                    self._created(bench, provider)
                    for bench, provider in zip((one, two), providers, strict=True)
                ]
                try:
                    before = two.uses
                    await models[0].ainvoke(self.prompt)
                    assert two.uses == before, "the first model used the second run's context"
                    await asyncio.gather(*(model.ainvoke(self.prompt) for model in models))
                finally:
                    for provider in providers:
                        await provider.aclose()
                if self.plugin.per_run:
                    assert models[0] is not models[1], "`per_run`, and yet one model for both"

        asyncio.run(work())

    @pytest.mark.usefixtures("ready_environment")
    def test_using_it_changes_no_global_state(
        self, tmp_path: Path, plugin_options: Mapping[str, Any], kept: dict[str, Any]
    ) -> None:
        """No module or class variable, folder, environment, thread or process is left changed."""
        self.require_unchanged(self._ask_model(tmp_path, plugin_options, kept).left)

    def prepare_context(self, context: RunContext) -> None:
        """Give the context what the model reads of it (a goal, tools); nothing when left out."""

    def _ask_model(self, base: Path, options: Mapping[str, Any], kept: dict[str, Any]) -> _Asked:
        """A model asked once with tools and once without; what three tests judge."""
        if "asked" not in kept:
            before = Footprint(self.package)
            seen = self.drive(base / "asked", options, self._ask)
            kept["asked"] = replace(seen, left=before.changes())
        return kept["asked"]

    async def _ask(self, bench: Bench, provider: Any) -> _Asked:
        model = self._created(bench, provider)
        with_tools = await model.bind_tools([_TOOL]).ainvoke(self.prompt)
        answer = await model.ainvoke(self.prompt)
        usage = answer.usage_metadata or _usage(0)
        costs = [provider.cost_usd(self.model, one) for one in (usage, _usage(0), _usage(10**6))]
        costs.append(provider.cost_usd("no-such-model", _usage(10)))
        return _Asked(model, with_tools, costs)

    def _created(self, bench: Bench, provider: Any) -> Any:
        self.prepare_context(bench.context)
        return provider.create(self.model, 0.0, bench.context)


def _usage(tokens: int) -> Mapping[str, int]:
    return {"input_tokens": tokens, "output_tokens": tokens, "total_tokens": 2 * tokens}
