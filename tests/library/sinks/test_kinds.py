"""Each kind of sink, against a fake that checks every request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from pagekeep.capture.from_url import Retrieval
from pagekeep.errors import InvalidQuery, NotFound
from pagekeep.library.open import open_library
from pagekeep.library.sinks.api import NotSent
from pagekeep.library.sinks.kind import all_kinds
from pagekeep.library.sinks.manage import (
    NewSink,
    add_sink,
    check_sink,
    finish_pairing,
    get_sink,
    list_deliveries,
    revive_deliveries,
    start_pairing,
)
from pagekeep.library.sinks.runner import Clients, open_clients
from pagekeep.library.webhooks import new_secret
from tests.library.sinks.conftest import Bench
from tests.library.sinks.fakes import AnytypeApp, Reader, Webhooks, running


def talk(bench: Bench, work: Callable[[Clients], Any]) -> Any:
    """Return the result of something that talks to a sink."""

    async def run() -> Any:
        async with Retrieval(bench.settings) as retrieval, open_clients(retrieval) as clients:
            return await work(clients)

    return asyncio.run(run())


def test_the_kinds_are_found_by_themselves() -> None:
    assert {"anytype", "readwise", "webhook"} <= set(all_kinds())


# Anytype


def test_anytype_gets_an_object_with_title_text_source_quality_and_how_the_capture_went(bench: Bench) -> None:
    with running(AnytypeApp()) as fake:
        bench.add("anytype", fake.url, fake.key)
        first = bench.save(1, title="A  page\nof two lines")
        bench.store.items.save(
            replace(
                bench.store.items.get(first), url="https://example.com/b", url_full="https://example.com/b", id="x"
            ),
            None,
        )
        bench.deliver()
        assert fake.faults == []
        one, _other = fake.objects.values()
        assert (one["name"], one["markdown"], one["type"]) == ("A page of two lines", "Some words of page 1.\n", "page")
        assert one["values"] == {
            "source": "https://example.com/page/1?utm_source=mail",
            "pagekeep_id": first,
            "pagekeep_quality": "article",
            "pagekeep_capture": "Article captured (5 words)",
            "pagekeep_extraction_failed": False,
        }
        assert sorted(set(fake.properties) - {"source", "description"}) == [
            *("pagekeep_capture", "pagekeep_extraction_failed", "pagekeep_id", "pagekeep_quality"),
        ]
        assert fake.properties["pagekeep_extraction_failed"] == "checkbox"


@pytest.mark.parametrize(
    ("quality", "shown", "failed"),
    [
        ("simplified", "Article captured (simplified)", False),
        ("bookmark", "Saved as bookmark - extraction failed", True),
    ],
)
def test_anytype_shows_a_capture_that_did_not_work(bench: Bench, quality: str, shown: str, failed: bool) -> None:
    from tests.store.making import make_item

    with running(AnytypeApp()) as fake:
        bench.add("anytype", fake.url, fake.key)
        bench.store.items.save(make_item(1, quality=quality), None)
        bench.deliver()
        (one,) = fake.objects.values()
        values = one["values"]
        assert (values["pagekeep_quality"], values["pagekeep_capture"]) == (quality, shown)
        assert values["pagekeep_extraction_failed"] is failed


def test_anytype_changes_the_object_that_it_has_and_leaves_a_deleted_one_deleted(bench: Bench) -> None:
    with running(AnytypeApp()) as fake:
        bench.add("anytype", fake.url, fake.key, type="note")
        bench.save(1)
        bench.deliver()
        bench.save(1, title="Another title", content="Other words.")
        bench.deliver()
        (one,) = fake.objects.values()
        assert (one["name"], one["markdown"], one["versions"], one["type"]) == (
            "Another title",
            "Other words.",
            2,
            "note",
        )
        fake.deleted.add(one["id"])
        bench.save(1, title="A third title")
        bench.deliver()
        assert (one["versions"], len(fake.objects), bench.store.outbox.list()) == (2, 1, ())
        assert fake.faults == []


def test_anytype_finds_an_object_whose_answer_was_lost(bench: Bench) -> None:
    with running(AnytypeApp(lambda number: "lost" if number == 0 else "ok")) as fake:
        bench.add("anytype", fake.url, fake.key)
        bench.save(1)
        bench.deliver(rounds=3)
        assert len(fake.objects) == 1
        assert bench.store.outbox.list() == ()


def test_anytype_is_paired_with_the_code_that_it_shows(bench: Bench) -> None:
    with running(AnytypeApp()) as fake:
        sink = add_sink(bench.store, bench.settings, NewSink("anytype", address=fake.url, rules=("*",))).sink
        with pytest.raises(NotFound, match="no secret"):
            talk(bench, lambda clients: check_sink(bench.store, sink.name, clients))
        attempt = talk(bench, lambda clients: start_pairing(bench.store, sink.name, clients))
        for code in ("12", "abcd", "1234"):
            with pytest.raises(InvalidQuery):
                talk(
                    bench, lambda c, code=code: finish_pairing(bench.store, bench.settings, sink.name, attempt, code, c)
                )
        view = talk(bench, lambda c: finish_pairing(bench.store, bench.settings, sink.name, attempt, "47 11", c))
        assert view.has_secret
        found = talk(bench, lambda clients: check_sink(bench.store, sink.name, clients))
        assert found == "Anytype accepts the key. Items go to the space Notes."
        bench.save(1)
        bench.deliver()
        assert len(fake.objects) == 1
        assert fake.faults == []


def test_anytype_that_was_not_paired_yet_keeps_the_items_waiting(bench: Bench) -> None:
    with running(AnytypeApp()) as fake:
        sink = add_sink(bench.store, bench.settings, NewSink("anytype", address=fake.url, rules=("*",))).sink
        bench.save(1)
        bench.deliver()
        assert fake.requests == []
        view = get_sink(bench.store, sink.name)
        assert (view.queued, view.sink.error) == (1, "The sink anytype has no secret yet.")
        attempt = talk(bench, lambda clients: start_pairing(bench.store, sink.name, clients))
        talk(bench, lambda c: finish_pairing(bench.store, bench.settings, sink.name, attempt, fake.code, c))
        bench.deliver()
        assert len(fake.objects) == 1


def test_a_space_that_does_not_exist_is_reported_with_those_that_do(bench: Bench) -> None:
    with running(AnytypeApp()) as fake:
        bench.add("anytype", fake.url, fake.key, space="Work")
        with pytest.raises(NotSent, match="no space Work") as raised:
            talk(bench, lambda clients: check_sink(bench.store, "anytype", clients))
        assert raised.value.suggestions == ("Use one of: Notes.",)


def test_anytypes_own_port_on_this_machine_needs_no_setting_but_others_do(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(allow_hosts=())
    add_sink(bench.store, bench.settings, NewSink("anytype", name="own"))
    for address in ("http://127.0.0.1:8080", "http://10.0.0.1:31009", "http://[::1]:80"):
        with pytest.raises(Exception, match="private address"):
            add_sink(bench.store, bench.settings, NewSink("anytype", name="other", address=address))
    with pytest.raises(Exception, match="private address"):
        add_sink(bench.store, bench.settings, NewSink("webhook", address="http://127.0.0.1:31009"))
    shared = make_bench(allow_hosts=(), shared=True)
    with pytest.raises(Exception, match="private address"):
        add_sink(shared.store, shared.settings, NewSink("anytype", name="shared"))


# Readwise Reader


def test_reader_gets_each_page_once_with_our_text(bench: Bench) -> None:
    with running(Reader(lambda number: "lost" if number == 0 else "ok")) as fake:
        bench.add("readwise", fake.url, fake.token, location="later")
        bench.save(1, tags=["energy"], author="Ada", content="Some *strong* words.")
        bench.save(2, url="mid:letter@example.com")
        bench.deliver(rounds=3)
        (one,) = fake.documents.values()
        assert "<em>strong</em>" in one["html"]
        assert (one["url"], one["title"], one["author"]) == (
            *("https://example.com/page/1?utm_source=mail", "A title", "Ada"),
        )
        assert (one["tags"], one["location"], one["should_clean_html"]) == (["energy"], "later", False)
        bench.save(1, title="Another title", tags=["energy"])
        bench.deliver()
        assert fake.updates == [("doc0", {"title": "Another title", "tags": ["energy"]})]
        fake.deleted.add("doc0")
        bench.save(1, title="A third title")
        bench.deliver()
        assert (fake.faults, bench.store.outbox.list()) == ([], ())


def test_reader_with_a_wrong_token_says_so_and_waits(bench: Bench) -> None:
    with running(Reader()) as fake:
        bench.add("readwise", fake.url, "wrong-token")
        bench.save(1)
        bench.deliver()
        with pytest.raises(NotSent, match="refused the secret"):
            talk(bench, lambda clients: check_sink(bench.store, "readwise", clients))
        view = get_sink(bench.store, "readwise")
        assert view.queued == 1
        assert "refused the secret" in str(view.sink.error)
        assert "wrong-token" not in str(view.sink.error)


def test_readers_address_cannot_be_changed(bench: Bench) -> None:
    with pytest.raises(InvalidQuery, match=r"always https://readwise\.io"):
        add_sink(bench.store, bench.settings, NewSink("readwise", address="https://evil.example", secret="token"))


# Webhooks


def test_a_webhook_without_the_text_and_a_test_event(bench: Bench) -> None:
    secret = new_secret()
    with running(Webhooks(secret)) as fake:
        bench.add("webhook", fake.url, secret, content="no")
        item = bench.save(1)
        bench.deliver()
        assert talk(bench, lambda clients: check_sink(bench.store, "webhook", clients)).startswith("The address took")
        saved, tested = fake.messages.values()
        assert "markdown" not in saved["data"]
        assert (saved["data"]["id"], saved["data"]["quality"], tested["type"]) == (item, "article", "test")


def test_a_receiver_of_the_reference_library_verifies_our_signatures(bench: Bench) -> None:
    reference = pytest.importorskip("standardwebhooks", reason="pip install standardwebhooks")
    secret = new_secret()
    with running(Webhooks(secret)) as fake:
        bench.add("webhook", fake.url, secret)
        bench.save(1, title="Sölar 🌞")
        bench.deliver()
        ((headers, body),) = fake.raw
        assert reference.Webhook(secret).verify(body, headers)["data"]["title"] == "Sölar 🌞"


def test_a_response_that_repeats_the_secret_does_not_bring_it_into_the_library(bench: Bench) -> None:
    secret = new_secret()

    class Echo(Webhooks):
        def answer(self, *_values: Any) -> tuple[int, Any]:
            return 400, {"you sent": secret}

    with running(Echo(secret)) as fake:
        bench.add("webhook", fake.url, secret)
        bench.save(1)
        bench.deliver()
        (dead,) = list_deliveries(bench.store)
        assert "you sent" in str(dead.delivery.error)
        assert secret not in str(dead.delivery.error)
        assert revive_deliveries(bench.store) == 1


def test_secrets_are_encrypted_in_the_library_and_its_backups(bench: Bench, tmp_path: Any) -> None:
    secret = new_secret()
    with running(Webhooks(secret)) as fake:
        bench.add("webhook", fake.url, secret)
    bench.store.backup(str(tmp_path / "copy.db"))
    bench.store.close()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 2
    for path in files:
        assert secret.removeprefix("whsec_").encode() not in path.read_bytes(), path
    assert (tmp_path / "secrets.key").stat().st_mode & 0o077 == 0
    with closing(open_library(bench.settings)) as store:
        assert "whsec" not in repr(store.sinks.list())
