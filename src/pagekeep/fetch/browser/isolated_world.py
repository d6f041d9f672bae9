"""Run scripts in an isolated world of the page: they see its document, but the page's scripts cannot see or change them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from playwright.async_api import Error

from pagekeep.errors import RenderError

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

_HERE = Path(__file__).parent
TEXT_LENGTH: Final = (_HERE / "text_length.js").read_text("utf-8")
READ_PAGE: Final = (_HERE / "read_page.js").read_text("utf-8")
IS_LOADING: Final = (_HERE / "is_loading.js").read_text("utf-8")

# Parts of Chromium's errors when the document is gone.
_NAVIGATED: Final = ("find context", "context was destroyed", "navigated", "No frame", "Frame ")


class Navigated(Exception):
    """The page loaded another document while a script ran."""


class IsolatedWorld:
    """Runs scripts in an isolated world of the page's main frame, whatever document it shows."""

    def __init__(self, session: CDPSession, frame: str) -> None:
        self._session = session
        self._frame = frame
        self._context: int | None = None

    async def text_length(self) -> tuple[int, str]:
        """Return the characters of text in the page, and the state of the document: `streaming`, `loading` or `ready`."""
        length, stage = await self._run(TEXT_LENGTH)
        return int(length), str(stage)

    async def read_page(self, limit: int) -> dict[str, Any]:
        """Return the page as HTML of at most `limit` characters, with its URL, type, size and status."""
        return dict(await self._run(f"({READ_PAGE})({json.dumps(limit)})"))

    async def is_loading(self) -> bool:
        """Return whether the page still waits for style sheets, fonts or images."""
        return bool(await self._run(IS_LOADING))

    async def scroll_to(self, y: int) -> None:
        """Scroll the page."""
        await self._run(f"scrollTo(0, {int(y)})")

    async def _run(self, script: str) -> Any:
        try:
            if self._context is None:
                self._context = await self._enter()
            answer = await self._session.send(
                "Runtime.evaluate", {"expression": script, "contextId": self._context, "returnByValue": True}
            )
        except Error as error:
            if not any(part in error.message for part in _NAVIGATED):
                raise
            self._context = None
            raise Navigated from None
        if "exceptionDetails" in answer:
            raise RenderError("The browser could not return the content of the page.")
        return answer["result"].get("value")

    async def _enter(self) -> int:
        world = await self._session.send(
            "Page.createIsolatedWorld", {"frameId": self._frame, "worldName": "pagekeep", "grantUniveralAccess": False}
        )
        return int(world["executionContextId"])
