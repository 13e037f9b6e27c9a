"""What a server answers, as text for the model."""

from __future__ import annotations

import json

import mcp_types as types

_MAX_CHARS = 200_000
"""More than any model is shown; the run's own limit for a result is far below."""


def as_text(result: types.CallToolResult) -> str:
    """The texts of an answer; what is no text is named with its kind and size."""
    parts = [_block(block) for block in result.content]
    if not any(parts) and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False, indent=1)]
    return "\n".join(parts)[:_MAX_CHARS] or "(an empty answer)"


def _block(block: types.ContentBlock) -> str:
    if isinstance(block, types.TextContent):
        return block.text
    if isinstance(block, (types.ImageContent, types.AudioContent)):
        size = len(block.data) * 3 // 4
        return f"[{block.mime_type}, {size} bytes, which cannot be shown here]"
    if isinstance(block, types.EmbeddedResource):
        inner = block.resource
        if isinstance(inner, types.TextResourceContents):
            return f"{inner.uri}:\n{inner.text}"
        return f"[{inner.uri}: {inner.mime_type or 'binary'}, which cannot be shown here]"
    return f"[a link to {block.uri}: {block.description or block.name}]"
