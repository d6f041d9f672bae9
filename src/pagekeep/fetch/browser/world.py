"""A clean room in the page: our scripts see its document, its scripts see nothing of ours and can change nothing of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from playwright.async_api import Error

from pagekeep.errors import RenderError

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

_HERE = Path(__file__).parent
LENGTH: Final = (_HERE / "length.js").read_text("utf-8")
READ: Final = (_HERE / "read.js").read_text("utf-8")
PICTURES: Final = (_HERE / "pictures.js").read_text("utf-8")

# How Chromium says that the document we spoke to is no longer there.
_MOVED: Final = ("find context", "context was destroyed", "navigated", "No frame", "Frame ")


class Moved(Exception):
    """The page went to another document while a script ran."""


class World:
    """Runs scripts in a world of their own within the page's main frame, whatever document is there."""

    def __init__(self, session: CDPSession, frame: str) -> None:
        self._session = session
        self._frame = frame
        self._context: int | None = None

    async def length(self) -> tuple[int, str]:
        """Characters of text in the page, and how far its document is: `streaming`, `loading` or `ready`."""
        text, stage = await self._run(LENGTH)
        return int(text), str(stage)

    async def read(self, limit: int) -> dict[str, Any]:
        """The page as HTML of at most `limit` characters, with its address, type, size and status."""
        return dict(await self._run(f"({READ})({json.dumps(limit)})"))

    async def is_waiting(self) -> bool:
        """Whether the page still waits for style sheets, fonts or pictures."""
        return bool(await self._run(PICTURES))

    async def _run(self, script: str) -> Any:
        try:
            if self._context is None:
                self._context = await self._enter()
            answer = await self._session.send(
                "Runtime.evaluate", {"expression": script, "contextId": self._context, "returnByValue": True}
            )
        except Error as error:
            if not any(words in error.message for words in _MOVED):
                raise
            self._context = None
            raise Moved from None
        if "exceptionDetails" in answer:
            raise RenderError("The page could not be read out of the browser.")
        return answer["result"]["value"]

    async def _enter(self) -> int:
        made = await self._session.send(
            "Page.createIsolatedWorld", {"frameId": self._frame, "worldName": "pagekeep", "grantUniveralAccess": False}
        )
        return int(made["executionContextId"])
