"""Errors of tools, in the same shape as those of the API and the CLI."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from mcp.types import CallToolResult, TextContent

from pagekeep.doors.mcp.envelope import Quote
from pagekeep.errors import PagekeepError


def report_errors(tool: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Return the tool's errors as JSON, in the same shape as the API and the CLI."""

    @wraps(tool)
    async def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return await tool(*args, **kwargs)
        except PagekeepError as error:
            return _error_result(error.to_json())

    return run


def report_web_errors(tool: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Return the errors of a tool that fetches pages: the message is marked, as it may quote what a server sent."""

    @wraps(tool)
    async def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return await tool(*args, **kwargs)
        except PagekeepError as error:
            shape, quote = error.to_json(), Quote()
            shape["error"]["message"] = quote(error.message)
            return _error_result({**shape, "notice": quote.notice})

    return run


def _error_result(shape: dict[str, Any]) -> CallToolResult:
    text = json.dumps(shape, ensure_ascii=False)
    return CallToolResult(is_error=True, content=[TextContent(type="text", text=text)])
