"""A model that writes the wrong word first, then the right one."""

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult


class ZeroChat(BaseChatModel):
    @property
    def _llm_type(self):
        return "zero"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        said = sum(message.type == "ai" for message in messages)
        text = ["one", "zero"][min(said, 1)]
        call = {"name": "zero_tool", "args": {"text": text}, "id": f"call-{said}"}
        message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])
