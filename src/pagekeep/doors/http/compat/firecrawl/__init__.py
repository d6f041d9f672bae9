"""The Firecrawl-compatible endpoints, version 2 of its API, as its SDKs call them."""

from __future__ import annotations

from fastapi import APIRouter

from pagekeep.doors.http.compat.firecrawl import crawl, scrape
from pagekeep.doors.http.compat.firecrawl import scrape as search
from pagekeep.doors.http.compat.firecrawl import scrape as team

router = APIRouter()
for _part in (scrape.router, crawl.router, search.search_router, team.team_router):
    router.include_router(_part)
