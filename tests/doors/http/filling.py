"""Something of everything for a user of a server, for the tests that walk all routes."""

from __future__ import annotations

import uuid

from pagekeep import clock
from pagekeep.doors.http.image_proxy import signed_path
from pagekeep.doors.http.service import Service
from pagekeep.doors.published_feeds import publish
from pagekeep.identity import accounts
from pagekeep.library.crawl.addresses import CrawlOptions
from pagekeep.library.crawl.crawls import start_crawl
from pagekeep.library.items import lists, save_rules
from pagekeep.library.items.annotations import annotate, annotation_number
from pagekeep.library.items.find import tag_number
from pagekeep.model import NewEntry
from pagekeep.model.lists import SaveActions
from pagekeep.store import Store
from pagekeep.store.tables.accounts import session_id
from tests.site.fixtures import article
from tests.store.making import make_item, make_raw
from tests.store.sinks import add_sink

LATER = clock.add_seconds(clock.now(), 3600)
"""A time at which no worker of the server looks for jobs yet."""


def fill_library(library: Store, service: Service, word: str, url: str, picture_url: str) -> dict[str, str]:
    """Add things that have the word in them; return their ids by the names of the placeholders of `routes.py`."""
    user = library.user_id
    for number in range(40):  # users count their items from 1: another user never gets as far as this one's number
        library.items.delete(library.items.save(make_item(number, user_id=user), None).id, clock.now())
    library.items.purge()
    item = make_item(user_id=user, title=f"The {word}", content=f"About the {word}.", url=url)
    stored = library.items.save(item, make_raw(article(600, f"The {word}").encode()))
    library.items.save(make_item(50, user_id=user, tags=["quay", "pier", "mole"]), None)
    # Abandoned, so that watching it ends.
    job, other_job = (_dead_job(library, f"{url}?{word}={number}") for number in range(2))
    annotation = annotate(library, stored.id, "", note=f"More of the {word}.")
    mark = annotate(library, stored.id, f"Of the {word}")
    token = accounts.add_token(service.accounts, user, word)
    feed, _ = library.feeds.add("web", f"{url}?feed", now=LATER, title=word, folder=word)
    library.feeds.change(feed.id, LATER, status="paused")
    new = NewEntry(word, f"The {word}", url=f"{url}?entry", content=word, page=make_raw())
    (entry,) = library.entries.put(feed.id, [new], LATER).added
    shared, _ = publish(library, service.accounts, word)
    return {
        "annotation": annotation.id,
        "other_annotation": annotate(library, stored.id, f"The {word}").id,
        "token": token.token.id,
        "session": session_id(accounts.digest(accounts.open_session(service.accounts, user))),
        "other_token": accounts.add_token(service.accounts, user, word).token.id,
        "url": url,
        "item": stored.id,
        "number": str(library.items.numbers([stored.id])[stored.id]),
        "mark": str(annotation_number(mark)),
        "reed": str(tag_number("reed")),
        "job": job,
        "other_job": other_job,
        "feed": feed.id,
        "entry": entry,
        "published": shared.id,
        "other_published": publish(library, service.accounts, word)[0].id,
        "crawl": _crawl(library, word, "docs"),
        "other_crawl": _crawl(library, word, "blog"),
        "sink": add_sink(library, word, ()).id,
        "other_sink": add_sink(library, f"other {word}", ()).id,
        **fill_lists(library, stored.id, word),
        "picture": signed_path(service.secret, user, picture_url),
    }


def _crawl(library: Store, word: str, name: str) -> str:
    crawl = start_crawl(library, CrawlOptions((f"https://{word}.example/{name}/",)))
    return library.crawls.cancel(crawl.id, clock.now()).id


def _dead_job(library: Store, url: str) -> str:
    job = library.jobs.add(url, url, {}, LATER)
    library.jobs.lease("hand", LATER, clock.add_seconds(clock.now(), 300))
    library.jobs.fail(job.id, "hand", {"type": "NotFound", "message": "", "suggestions": []}, retry_at=None)
    return job.id


def fill_lists(library: Store, item_id: str, word: str) -> dict[str, str]:
    """Return the ids of what was added, by the names of the placeholders."""
    made = [lists.add_list(library, f"{word} {uuid.uuid4()}").id for _ in range(2)]
    rules = [save_rules.add_rule(library, word, f"-{word}nothing", SaveActions(tags=(word,))) for _ in range(2)]
    actions = [lists.add_items(library, one, [item_id]).action.id for one in made]
    return {
        "list": made[0],
        "other_list": made[1],
        "save_rule": rules[0].id,
        "other_save_rule": rules[1].id,
        "action": actions[0],
    }
