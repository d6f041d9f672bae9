"""What PostgreSQL alone must hold: no sight of other users' rows whatever is asked, and installation."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekeep.errors import DatabaseUnreachable, StoreError
from pagekeep.model import (
    Annotation,
    Change,
    ItemBlob,
    ItemQuery,
    NewEntry,
    PageCheck,
    PublishedFeed,
    Retention,
    item_filters,
)
from pagekeep.model.lists import ItemChange, ItemList, SaveActions, SaveRule
from pagekeep.store import Store, install_library, open_accounts, open_store, parse_query
from pagekeep.store.migrations import migrations
from tests.hostile import postgres_two_users
from tests.hostile.postgres_two_users import catalog_faults
from tests.store.crawls import fill_crawl
from tests.store.making import NOW, Server, make_item, make_raw
from tests.store.sinks import fill_sink

psycopg = pytest.importorskip("psycopg", reason="PostgreSQL is not tested: install psycopg.")

LONG_AGO = "2000-01-01T00:00:00.000000Z"
FIXTURES = Path(__file__).parent / "schemas"
TABLES = (
    "items",
    "item_tags",
    "item_words",
    "raw_bodies",
    "raw_pages",
    "jobs",
    "annotations",
    "answers",
    "uploads",
    "blobs",
    "item_blobs",
    "snapshots",
    "schedules",
    "changes",
    "page_checks",
    "feeds",
    "feed_entries",
    "entry_pages",
    "published_feeds",
    "item_numbers",
    "crawls",
    "crawl_pages",
    "crawl_results",
    "crawl_hosts",
    "crawl_counts",
    "reading_states",
    "annotation_words",
    "lists",
    "list_items",
    "save_rules",
    "actions",
    "action_items",
    "sinks",
    "changed_items",
    "outbox",
    "sent_items",
    "item_counts",
    "vocabulary",
    "commits",
)
DURING_A_TRANSACTION = ("item_count_changes", "item_count_transactions")
"""Tables that are empty after every commit."""
TYPES = {
    "uuid": {
        *("items.id", "item_tags.item_id", "raw_pages.item_id", "jobs.id", "annotations.id", "annotations.item_id"),
        "item_numbers.item_id",
        *(
            "tokens.id",
            "uploads.id",
            "item_blobs.item_id",
            "snapshots.item_id",
            "schedules.id",
            "changes.id",
            "changes.item_id",
        ),
        "page_checks.item_id",
        *("reading_states.item_id", "annotation_words.annotation_id"),
        *("feeds.id", "feed_entries.id", "feed_entries.feed_id", "feed_entries.item_id", "entry_pages.entry_id"),
        "published_feeds.id",
        *("lists.id", "list_items.list_id", "list_items.item_id", "save_rules.id"),
        *("actions.id", "action_items.action_id", "action_items.item_id"),
        *("crawls.id", "crawl_pages.crawl_id", "crawl_results.crawl_id", "crawl_counts.crawl_id"),
        *("sinks.id", "changed_items.item_id", "outbox.sink_id", "outbox.item_id"),
        *("sent_items.sink_id", "sent_items.item_id"),
        "commits.writer",
    },
    "boolean": {
        *(
            "items.pinned",
            "items.archived",
            "items.fetch_again",
            "items.failed",
            "items.gone",
            "raw_pages.rendered",
            "users.disabled",
        ),
        *("snapshots.rendered", "snapshots.pinned", "entry_pages.rendered", "crawl_results.rendered"),
        "reading_states.chosen",
        *("sinks.takes_items", "sinks.hidden"),
    },
    "jsonb": {
        *("items.metadata", "items.tags", "jobs.options", "jobs.error", "domain_memory.memory", "answers.answer"),
        *("raw_pages.headers", "snapshots.headers", "schedules.state"),
        *("feeds.settings", "feeds.state", "feed_entries.extra"),
        *("crawls.options", "crawls.counts", "crawl_results.headers"),
        *("save_rules.actions", "action_items.change"),
        *("sinks.options", "outbox.body", "outbox.error"),
    },
}
"""All columns of these types; every column that ends in `_at`, `_after` or `_until` is a timestamptz, but for one."""


def fill(library: Store) -> None:
    item = library.items.save(make_item(user_id=library.user_id, tags=["t"], content="secret words"), make_raw())
    library.annotations.put(Annotation(str(uuid.uuid4()), item.id, "secret", "", "words", "mine", None, NOW, NOW))
    library.reading.change(item.id, lambda old: replace(old, state="reading", updated_at=NOW))
    library.idempotency.claim("key", "request", NOW, LONG_AGO, LONG_AGO)
    library.jobs.add("https://example.com/job", "https://example.com/job", {}, NOW)
    library.uploads.put_part(str(uuid.uuid4()), 0, b"secret", NOW)
    name = library.blobs.put(b"secret picture", NOW)
    library.blobs.link(item.id, [ItemBlob("picture", "https://example.com/a.png", "kept", NOW, "image/png", name, 14)])
    schedule = library.schedules.put("watch", item.id, item.url_full, 3600, NOW, NOW)
    change = Change(str(uuid.uuid4()), item.id, 1, 0, 1, 1, "secret", NOW)
    changed = make_item(user_id=library.user_id, content="other secret words")
    library.changes.add(schedule.id, {}, changed, make_raw(b"new"), change, retention=Retention())
    library.changes.put_check(PageCheck(item.id, NOW, NOW, "ok"))
    feed, _ = library.feeds.add("web", "https://example.com/feed", now=NOW)
    library.entries.put(feed.id, [NewEntry("one", "Secret", content="secret words", page=make_raw())], NOW)
    library.feeds.publish(PublishedFeed(str(uuid.uuid4()), "Secret", "tag:secret", NOW))
    fill_crawl(library)
    reading = library.lists.add(ItemList(str(uuid.uuid4()), "Secret", "manual", "", NOW, NOW))
    library.save_rules.put(SaveRule(str(uuid.uuid4()), "Secret", "secret", SaveActions(), True, 1, NOW, NOW))
    action = str(uuid.uuid4())
    library.actions.add(action, "Secret", NOW)
    library.actions.change(action, [item.id], ItemChange(add_tags=("secret",), add_to=(reading.id,)), NOW)
    fill_sink(library)


@pytest.fixture
def victim(server: Server) -> Iterator[Store]:
    with closing(open_store(server.app, "victim")) as library:
        if library.items.by_url("https://example.com/page/0") is None:
            fill(library)
        yield library


@pytest.fixture(params=["app", "worker"])
def session(
    request: pytest.FixtureRequest, server: Server, victim: Store
) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Signed in as the application does, with another user named."""
    with psycopg.connect(getattr(server, request.param), autocommit=True) as connection:
        connection.execute("SET search_path = pagekeep")
        connection.execute("SELECT set_config('app.user_id', 'attacker', false)")
        yield connection


def visible(table: str, session: psycopg.Connection[tuple[object, ...]]) -> bool:
    """Workers see all jobs, schedules, running crawls, due sinks and changed items; that is what they are for."""
    return table in ("jobs", "schedules", "crawls", "sinks", "changed_items") and session.info.user == "hand"


@pytest.mark.parametrize("table", TABLES)
def test_no_query_sees_or_touches_another_users_rows(
    session: psycopg.Connection[tuple[object, ...]], table: str, server: Server
) -> None:
    if visible(table, session):
        pytest.skip("workers see the jobs of all")
    assert session.execute(f"SELECT * FROM {table}").fetchall() == []
    assert session.execute(f"UPDATE {table} SET user_id = 'attacker'").rowcount == 0
    assert session.execute(f"DELETE FROM {table}").rowcount == 0
    with psycopg.connect(server.owner) as owner:
        assert owner.execute(f"SELECT COUNT(*) FROM pagekeep.{table} WHERE user_id = 'victim'").fetchone()[0] > 0


def test_without_a_user_nothing_is_seen(session: psycopg.Connection[tuple[object, ...]]) -> None:
    session.execute("SELECT set_config('app.user_id', '', false)")
    for table in TABLES:
        assert visible(table, session) or session.execute(f"SELECT * FROM {table}").fetchall() == []


def test_the_facets_are_of_ones_own_items_alone(session: psycopg.Connection[tuple[object, ...]]) -> None:
    assert session.execute("SELECT * FROM item_facets()").fetchall() == []


def test_nothing_is_left_of_the_changes_of_counts(server: Server, victim: Store) -> None:
    with psycopg.connect(server.owner) as owner:
        for table in DURING_A_TRANSACTION:
            assert owner.execute(f"SELECT COUNT(*) FROM pagekeep.{table}").fetchone() == (0,)


def test_no_row_can_be_written_for_another_user(session: psycopg.Connection[tuple[object, ...]]) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.execute("INSERT INTO domain_memory VALUES ('victim', 'evil.example', '{}', 'now')")
    session.execute("INSERT INTO domain_memory VALUES ('attacker', 'evil.example', '{}', 'now') ON CONFLICT DO NOTHING")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.execute("UPDATE domain_memory SET user_id = 'victim'")


def test_the_search_functions_give_ones_own_numbers_alone(session: psycopg.Connection[tuple[object, ...]]) -> None:
    wanted = "'secret' | 'title' | 'a':* | '#':*"
    for top, bottom in ((9 * 10**15, 0), (2_048, 0), (5_000, 4_999), (0, 0), (-5, 5)):
        found = session.execute("SELECT * FROM matches(%s::tsquery, %s::bigint, %s::bigint)", (wanted, top, bottom))
        assert found.fetchall() == []


def test_the_application_cannot_lift_the_policies(session: psycopg.Connection[tuple[object, ...]]) -> None:
    for sql in (
        "ALTER TABLE items DISABLE ROW LEVEL SECURITY",
        "DROP POLICY own_rows ON items",
        "CREATE POLICY mine ON items USING (true)",
        "TRUNCATE items CASCADE",
        "SET ROLE postgres",
        "CREATE FUNCTION matches(tsquery) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "UPDATE schema_version SET version = 0",
        "SET row_security = off; SELECT * FROM items",
    ):
        with pytest.raises(psycopg.Error):
            session.execute(sql)


def test_every_table_of_users_rows_is_under_row_security(server: Server) -> None:
    with psycopg.connect(server.owner) as owner:
        rows = owner.execute(
            "SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
            "WHERE c.relkind = 'r' AND a.attname = 'user_id' AND c.relnamespace = 'pagekeep'::regnamespace"
        ).fetchall()
    closed = {
        "sessions",
        "tokens",
        "identities",
    }  # the application's role has no way to these at all, see test_accounts.py
    assert {name: secured for name, secured, _ in rows if name not in closed} == dict.fromkeys(
        (*TABLES, *DURING_A_TRANSACTION, "domain_memory"), True
    )
    assert {name for name, _, forced in rows if not forced} == {"item_words", *closed}


def test_the_catalog_shows_no_table_function_or_sequence_that_passes_by_the_policies(server: Server) -> None:
    with psycopg.connect(server.owner, autocommit=True) as owner:
        assert catalog_faults(owner) == []
        with owner.transaction(force_rollback=True):
            owner.execute(
                "CREATE TABLE pagekeep.forgotten (user_id TEXT); GRANT SELECT ON pagekeep.forgotten TO pagekeep_app"
            )
            assert catalog_faults(owner) == ["forgotten: no row-level security"]
            owner.execute("ALTER TABLE pagekeep.forgotten ENABLE ROW LEVEL SECURITY")
            owner.execute("CREATE POLICY all_rows ON pagekeep.forgotten USING (true)")
            assert len(catalog_faults(owner)) == 2


def test_two_users_see_nothing_of_each_other_by_any_way(server: Server) -> None:
    found = postgres_two_users.attack(server, 5)
    assert found.faults == []
    assert found.tried > 700


def test_the_owners_sign_in_acts_as_the_application_too(server: Server, victim: Store) -> None:
    with closing(open_store(server.owner, "somebody")) as library:
        assert library.search.find(ItemQuery(filters=item_filters(archived=False))).items == ()
        assert library.search.find(parse_query("secret")).hits == ()
    assert victim.search.find(parse_query("secret")).hits


def test_searching_uses_the_text_index(server: Server) -> None:
    with psycopg.connect(server.owner) as owner:
        body = owner.execute("SELECT prosrc FROM pg_proc WHERE proname = 'matches'").fetchone()[0]
        condition = body[body.index("WHERE search_lexemes") : body.index("@@ scope")]
        owner.execute("SET enable_seqscan = off")
        owner.execute("SET search_path = pagekeep")
        plan = owner.execute(f"EXPLAIN SELECT w.seq FROM item_words w {condition} @@ 'secret'::tsquery").fetchall()
    assert any("item_words_all" in str(line) for line in plan)


def test_installing_again_changes_nothing(server: Server, victim: Store) -> None:
    from pagekeep.store import postgres

    postgres.install(server.owner)
    assert victim.search.find(parse_query("secret")).hits


@pytest.mark.parametrize("schema", sorted(FIXTURES.glob("postgres-v*.sql")), ids=lambda file: file.stem)
def test_every_past_schema_migrates(server: Server, schema: Path) -> None:
    from pagekeep.store import postgres

    with psycopg.connect(server.owner, autocommit=True) as owner:
        owner.execute("DROP DATABASE IF EXISTS past")
        owner.execute("CREATE DATABASE past")
    place = "/past?"
    with psycopg.connect(server.owner.replace("/postgres?", place), autocommit=True) as owner:
        owner.execute(schema.read_text("utf-8"))
        owner.execute("SET search_path = pagekeep")
        _add_a_second_user(owner, first=int(schema.stem.rpartition("v")[2]) < 4)
    postgres.install(server.owner.replace("/postgres?", place))
    with psycopg.connect(server.owner.replace("/postgres?", place), autocommit=True) as owner:
        _check_types(owner)
    with closing(open_store(server.app.replace("/postgres?", place), "other")) as library:
        (other,) = library.search.find(ItemQuery()).items
        assert (other.title, other.saved_at, other.last_opened_at) == ("Another's", "2024-02-29T23:59:59.500000Z", None)
        assert (other.metadata.pinned, library.search.find(parse_query("is:pinned")).items) == (True, (other,))
        assert library.items.raw(other.id) is not None
        assert library.items.get(other.id[:8]) == other
        # A save that failed without an item runs again after the upgrade to schema 22.
        old = int(schema.stem.rpartition("v")[2]) < 22
        assert [job.state for job in library.jobs.list()] == ["queued" if old else "dead"]
        assert library.check() == []
    with closing(open_store(server.app.replace("/postgres?", place))) as library:
        item = library.items.by_url("https://example.com/old")
        assert item is not None
        assert (item.title, list(item.metadata.tags)) == ("An old page", ["old"])
        raw = library.items.raw(item.id)
        assert raw is not None
        assert raw.body == b"<p>Old words</p>"
        assert [hit.item.id for hit in library.search.find(parse_query("old words")).hits] == [item.id]
        assert [job.state for job in library.jobs.list()] == ["queued"]
        assert library.check() == []


def _add_a_second_user(owner: Any, *, first: bool) -> None:
    """Add what another user has to a library of this version; where ids and times are texts, also odd ones."""
    item = "no uuid" if first else "7d3a1c52-0b8e-4a77-8f5e-0d6f9f7c2b99"
    owner.execute(
        "INSERT INTO items (user_id, id, url_hash, domain_key, title_key, saved_at, created_at, updated_at, metadata, source, "
        "domain, url, url_full, title, content) VALUES ('other', %s, 'h', 'com.example.', 'x', '2024-02-29T23:59:59.5Z', %s, "
        "'2024-03-01T00:00:00.000000Z', %s, 'web', 'example.com', 'https://example.com/o', 'https://example.com/o', "
        "'Another''s', 'x')",
        (item, "no time" if first else "2024-03-01T00:00:00Z", '{"pinned": true, "tags": ["theirs"]}'),
    )
    owner.execute("INSERT INTO item_tags (user_id, tag, item_id) VALUES ('other', 'theirs', %s)", (item,))
    owner.execute(
        "INSERT INTO item_words (seq, user_id, words, head, body) SELECT seq, user_id, 1, 'another s', 'x' FROM items "
        "WHERE user_id = 'other'"
    )
    owner.execute(
        "INSERT INTO raw_bodies (user_id, hash, size, packed, body) SELECT 'other', hash, size, packed, body FROM raw_bodies"
    )
    owner.execute(
        "INSERT INTO raw_pages (user_id, item_id, hash, encoding, content_type, final_url, status, rendered, fetched_at) "
        "SELECT 'other', %s, hash, encoding, content_type, final_url, status, rendered, fetched_at FROM raw_pages",
        (item,),
    )
    owner.execute(
        "INSERT INTO jobs (user_id, id, url_hash, url, url_full, options, state, error, run_after, created_at) VALUES "
        "('other', '222f5659-a968-41ed-a756-48c4b803ffff', 'x', 'https://example.com/o', 'https://example.com/o', '{}', 'dead', "
        "'{\"type\": \"FetchTimeout\"}', '2024-03-01T00:00:00.000000Z', '2024-03-01T00:00:00.000000Z')"
    )


def _check_types(owner: Any) -> None:
    """Check that every column has the type of its kind, and that every table shows users their own rows only."""
    rows = owner.execute(
        "SELECT table_name || '.' || column_name, data_type FROM information_schema.columns WHERE table_schema = 'pagekeep'"
    ).fetchall()
    for kind, columns in TYPES.items():
        assert {name for name, data_type in rows if data_type == kind} == columns
    times = {name for name, _ in rows if name.endswith(("_at", "_after", "_until"))} - {"items.published_at"}
    assert {name for name, kind in rows if kind == "timestamp with time zone"} == {
        *times,
        "sign_in_failures.since",
        "items.published_sort",
    }
    secured = owner.execute(
        "SELECT relname, relforcerowsecurity FROM pg_class WHERE relnamespace = 'pagekeep'::regnamespace AND relrowsecurity"
    ).fetchall()
    assert dict(secured) == {name: name != "item_words" for name in (*TABLES, *DURING_A_TRANSACTION, "domain_memory")}


def test_there_is_a_fixture_of_every_schema() -> None:
    wanted = {f"postgres-v{step.version}.sql" for step in migrations("postgres")}
    assert {file.name for file in FIXTURES.glob("postgres-v*.sql")} == wanted


def test_an_owner_without_special_powers_can_install(server: Server) -> None:
    from pagekeep.store import postgres

    with psycopg.connect(server.owner, autocommit=True) as owner:
        for sql in (
            "DROP DATABASE IF EXISTS modest",
            "DROP ROLE IF EXISTS modest",
            "CREATE ROLE modest LOGIN CREATEROLE",
        ):
            owner.execute(sql)
        owner.execute("CREATE DATABASE modest OWNER modest")
        owner.execute("GRANT pagekeep_app, pagekeep_worker, pagekeep_door TO modest WITH ADMIN OPTION")
    place = "/modest?"
    postgres.install(server.owner.replace("//postgres:", "//modest:").replace("/postgres?", place))
    postgres.install(server.owner.replace("//postgres:", "//modest:").replace("/postgres?", place))
    app = server.app.replace("/postgres?", place)
    with closing(open_store(app, "one")) as one, closing(open_store(app, "two")) as two:
        fill(one)
        assert [len(library.search.find(parse_query("secret")).hits) for library in (one, two)] == [1, 0]
        assert [len(library.search.find(parse_query("title")).hits) for library in (one, two)] == [1, 0]


def test_an_owner_with_too_few_rights_is_reported(server: Server) -> None:
    from pagekeep.store import postgres

    with pytest.raises(StoreError, match="may not install"):
        postgres.install(server.app.replace("/postgres?", "/template1?"))


def test_a_database_without_library_says_so(server: Server) -> None:
    with psycopg.connect(server.owner, autocommit=True) as owner:
        owner.execute("DROP DATABASE IF EXISTS bare")
        owner.execute("CREATE DATABASE bare")
    with pytest.raises(StoreError, match="no library"):
        open_store(server.app.replace("/postgres?", "/bare?"), "x")


def test_a_server_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnreachable, match="does not answer"):
        open_store(f"postgresql://keeper@/postgres?host={tmp_path}", "x")


def test_a_server_that_refuses_the_sign_in_says_so(server: Server) -> None:
    with pytest.raises(StoreError, match="reached") as caught:
        open_store(server.app.replace("keeper", "unknown"), "x")
    assert not isinstance(caught.value, DatabaseUnreachable)


def test_an_address_that_cannot_be_read_says_so() -> None:
    with pytest.raises(StoreError):
        open_store("postgresql://keeper@[/postgres", "x")


def test_a_lost_connection_is_replaced(server: Server, victim: Store) -> None:
    victim.counts.totals()
    with psycopg.connect(server.owner, autocommit=True) as owner:
        owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'keeper'")
    assert victim.counts.totals()["items"] == 1


def test_a_backup_restores_to_the_same_library(server: Server, victim: Store, tmp_path: Path) -> None:
    from pagekeep.store import postgres

    file = tmp_path / "victim.backup"
    victim.backup(str(file))
    postgres.restore(server.app, str(file), f"heir of {tmp_path}")
    with closing(open_store(server.app, f"heir of {tmp_path}")) as heir:
        old, new = (
            victim.search.find(ItemQuery(filters=item_filters(archived=False))).items,
            heir.search.find(ItemQuery(filters=item_filters(archived=False))).items,
        )
        assert [(item.id, item.content, item.metadata) for item in new] == [
            (item.id, item.content, item.metadata) for item in old
        ]
        assert heir.items.raw(new[0].id) == victim.items.raw(old[0].id)
        assert (
            heir.search.find(parse_query("secret")).hits[0].rank
            == victim.search.find(parse_query("secret")).hits[0].rank
        )
        assert heir.counts.totals() == victim.counts.totals()
        assert heir.blobs.of_item(new[0].id) == victim.blobs.of_item(old[0].id)
        assert heir.blobs.get(str(heir.blobs.of_item(new[0].id)[0].hash)) == b"secret picture"
        assert heir.check() == []
    with pytest.raises(StoreError, match="not empty"):
        postgres.restore(server.app, str(file), f"heir of {tmp_path}")


def test_half_a_backup_restores_nothing(server: Server, victim: Store, tmp_path: Path) -> None:
    from pagekeep.store import postgres

    file = tmp_path / "victim.backup"
    victim.backup(str(file))
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(StoreError, match="complete"):
        postgres.restore(server.app, str(file), "nobody")
    with closing(open_store(server.app, "nobody")) as library:
        assert library.counts.totals()["items"] == 0


def test_the_owner_lets_a_role_use_everything_a_server_needs(server: Server) -> None:
    with psycopg.connect(server.owner, autocommit=True) as connection:
        connection.execute('CREATE ROLE "the; server" LOGIN')
    install_library(server.owner, "the; server")
    place = re.sub(r"//[^@]*@", "//the%3B%20server:@", server.owner)
    with closing(open_accounts(place)) as accounts, closing(open_store(place, "anna", workers=True)) as store:
        assert accounts.users() is not None
        assert store.jobs.list() == ()


def test_a_role_that_is_not_there_is_not_let_in(server: Server) -> None:
    with pytest.raises(StoreError, match="no role"):
        install_library(server.owner, "nobody; DROP TABLE items")
