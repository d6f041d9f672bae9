"""Watching a page on a real site: changes are found, noise and a new parser are not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.config import Settings
from pagekeep.library.history import texts, watch
from pagekeep.library.save import save
from pagekeep.rules import Rulebook
from pagekeep.rules.loading import read
from pagekeep.store import Store
from tests.library.history.changing_site import ChangingPage
from tests.site.server import Reply, Site
from tests.site.server import Request as Asked

NEW_RULES = """
- id: tests-newer-rules
  trigger: {dom: {any: [article]}}
  remove: ["article p:nth-of-type(2)"]
"""


@contextmanager
def serving(page: ChangingPage) -> Iterator[Site]:
    async def show(_request: Asked, reply: Reply) -> None:
        await reply.send(page.html())

    with Site({"page": show}) as site:
        yield site


async def visit_all(
    page: ChangingPage,
    url: str,
    library: Store,
    settings: Settings,
    visits: int,
    newer: Rulebook | None,
    monkeypatch: Any,
) -> tuple[list[int], list[int]]:
    """Visit the page many times; return the visits at which it changed, and those at which a change was found."""
    changed, found = [], []
    async with Retrieval(settings) as retrieval, Retrieval(settings, newer) as later:
        page.begin_visit(0)
        saved = await save(Request(url, render="never"), library, retrieval)
        watch.watch(library, saved.item.id)
        for number in range(1, visits + 1):
            if number == visits // 2:  # the program is updated
                monkeypatch.setattr(texts, "PARSER_VERSION", 10_000)
                monkeypatch.setattr(watch, "PARSER_VERSION", 10_000)
                retrieval = later
            if page.begin_visit(number):
                changed.append(number)
            item = library.get(saved.item.id)
            schedule = library.schedule(watch.TASK, item.id)
            assert schedule is not None
            if await watch.visit(item, schedule, library, retrieval):
                found.append(number)
    return changed, found


@pytest.mark.parametrize("seed", [1])
def test_all_true_changes_are_found_among_noise_and_no_others(
    seed: int, library: Store, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ChangingPage(seed, visits=60)
    newer = Rulebook(read(NEW_RULES, "tests").rules)
    with serving(page) as site:
        changed, found = asyncio.run(visit_all(page, site.url("/page/1"), library, settings, 62, newer, monkeypatch))
    assert len(changed) == 12
    assert len(found) == 12
    # Beside an advertisement the next visit decides.
    assert all(late - early in (0, 1) for early, late in zip(changed, found, strict=True))
    (item_id,) = {change.item_id for change in library.changes()}
    assert len(library.snapshots(item_id)) == 13
