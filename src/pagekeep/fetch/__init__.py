"""Fetch pages over HTTP or with a browser. Only this package uses the network.

The HTTP library is imported with the first fetch, not with this package.
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
    """Fetch the page at `url` with `client`, or with a new client made from `settings`; see `Client.fetch`."""
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
