"""Retrieval: pages from their servers and out of the browser. The network is touched here and nowhere else.

The HTTP library is loaded with the first fetch, not with this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pagekeep.config import Settings
    from pagekeep.fetch.client import Client
    from pagekeep.model import Fetched

__all__ = ["Client", "fetch"]


async def fetch(
    url: str,
    *,
    settings: Settings | None = None,
    headers: Mapping[str, str] | None = None,
    cookies: Mapping[str, str] | None = None,
    etag: str | None = None,
    last_modified: str | None = None,
    client: Client | None = None,
    deadline: float | None = None,
) -> Fetched:
    """The page at `url` over HTTP, as `Client.fetch` gives it: by `client`, or by one made from `settings` for this page."""
    from pagekeep.fetch.client import Client

    if client is None:
        async with Client(settings) as client:
            return await fetch(
                url,
                headers=headers,
                cookies=cookies,
                etag=etag,
                last_modified=last_modified,
                client=client,
                deadline=deadline,
            )
    return await client.fetch(
        url, headers=headers, cookies=cookies, etag=etag, last_modified=last_modified, deadline=deadline
    )


def __getattr__(name: str) -> Any:
    if name == "Client":
        from pagekeep.fetch.client import Client

        return Client
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
