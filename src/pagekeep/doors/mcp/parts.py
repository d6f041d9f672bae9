"""Parts of long texts, sealed."""

from __future__ import annotations

from pagekeep.doors.mcp.context import ToolContext
from pagekeep.doors.mcp.envelope import seal, unquote
from pagekeep.errors import NotFound
from pagekeep.present.tasks import PartTask, TextPart
from pagekeep.workers import TEXT


async def cut_part(
    context: ToolContext, text: str, section: str | None, start: int, length: int, source: str
) -> TextPart:
    """Return a part of the text or of a section; the error for a wrong section has the page's headings in an envelope."""
    try:
        return await context.retrieval.run(PartTask(text, unquote(section) if section else None, start, length), TEXT)
    except NotFound as error:
        raise NotFound(error.message, suggestions=[seal(one, source) for one in error.suggestions]) from None


def seal_part(part: TextPart, source: str) -> str:
    """Seal a part of a text; if more follows, say so after the envelope."""
    more = f"\nThere is more: call again with start_index={part.following}." if part.following is not None else ""
    return seal(part.text, source) + more
