"""Webhooks: changes are sent once each, signed as Standard Webhooks describe, and never to private addresses."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import uuid
from dataclasses import replace
from typing import Any

import pytest

from pagekeep.config import Settings
from pagekeep.errors import BlockedAddress, FetchHttpError, InvalidQuery
from pagekeep.library import webhooks
from pagekeep.model import Change, Job, Retention
from pagekeep.store import Store
from tests.library.history.conftest import Run
from tests.site.server import Reply, Request, Site
from tests.store.making import NOW, make_item, make_raw

SECRET = "whsec_" + base64.b64encode(b"a key of twenty-four byte").decode()


@pytest.fixture
def job(library: Store) -> Job:
    """The job that sends a change."""
    item = library.items.save(make_item(user_id=library.user_id, title="Ferry times"), make_raw(b"1"))
    schedule = library.schedules.put("watch", item.id, item.url_full, 3600, NOW, NOW)
    change = Change(str(uuid.uuid4()), item.id, 1, 0, 5, 3, "the night boat", NOW)
    changed = make_item(user_id=library.user_id, title="Ferry times", content="New words.")
    library.changes.add(schedule.id, {}, changed, make_raw(b"2"), change, retention=Retention(), deliver=webhooks.TASK)
    (waiting,) = [one for one in library.jobs.list() if one.options.get("task") == webhooks.TASK]
    return waiting


def deliver(job: Job, library: Store, run: Run, settings: Settings) -> Any:
    return run(lambda retrieval: webhooks.deliver_job(job, library, retrieval, lambda _: None), own=settings).report


def test_a_change_is_sent_with_a_signature_that_the_receiver_can_check(
    job: Job, library: Store, run: Run, settings: Settings
) -> None:
    seen: list[tuple[dict[str, str], bytes]] = []

    async def receive(request: Request, reply: Reply) -> None:
        seen.append((request.headers, request.body))
        await reply.send("", status=204)

    with Site({"hook": receive}) as site:
        own = replace(settings, webhook_url=site.url("/hook/1"), webhook_secret=SECRET)
        assert deliver(job, library, run, own) == {"sent": 1}
    ((headers, body),) = seen
    sent = json.loads(body)
    assert sent["type"] == "page.changed"
    assert sent["data"]["title"] == "Ferry times"
    assert (sent["data"]["before"], sent["data"]["after"]) == (1, 2)
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["webhook-id"] == job.options["change"]


def test_a_private_address_is_refused(job: Job, library: Store, run: Run, settings: Settings) -> None:
    own = replace(settings, webhook_url="http://127.0.0.1:9/hook", webhook_secret=SECRET, allow_hosts=())
    with pytest.raises(BlockedAddress):
        deliver(job, library, run, own)


def test_a_receiver_that_fails_is_an_error_which_the_queue_repeats(
    job: Job, library: Store, run: Run, settings: Settings
) -> None:
    async def fail(_request: Request, reply: Reply) -> None:
        await reply.send("", status=500)

    with Site({"hook": fail}) as site, pytest.raises(FetchHttpError):
        deliver(job, library, run, replace(settings, webhook_url=site.url("/hook/1"), retries=0))


def test_changes_of_other_users_are_not_sent(settings: Settings) -> None:
    own = replace(settings, webhook_url="https://hooks.example/", user="ada")
    assert webhooks.is_wanted(own, "ada")
    assert not webhooks.is_wanted(own, "bob")
    assert not webhooks.is_wanted(replace(own, webhook_url=None), "ada")


def test_a_secret_that_is_not_a_key_is_an_error() -> None:
    with pytest.raises(InvalidQuery):
        webhooks.sign_change("whsec_not base64!", "id", 0, b"")
