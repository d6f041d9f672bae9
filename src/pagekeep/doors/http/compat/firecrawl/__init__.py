"""The Firecrawl-compatible endpoints, version 2 of its API, as its SDKs call them."""

from __future__ import annotations

from fastapi import APIRouter

from pagekeep.doors.http.compat.firecrawl import crawl, scrape, search, team

router = APIRouter()
for _routes in (scrape, crawl, search, team):
    router.include_router(_routes.router)
