"""Two users of one PostgreSQL library: Bob never reads, changes, counts or infers a row of Ada's (H13).

`python -m tests.hostile.postgres_two_users [--full]` attacks by SQL under the application's roles, by every method of the
store and by the use cases; with `--full` also by every route of the server (`tests/doors/http/test_routes.py`).
"""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from typing import Any, Final

from pagekeep.config import Settings
from pagekeep.errors import NotFound, PagekeepError
from pagekeep.identity import accounts as app_accounts
from pagekeep.library import queue
from pagekeep.library.exports.run import FORMATS, ExportOptions, export
from pagekeep.library.imports.run import ImportPlan, import_stream
from pagekeep.library.items import annotations, find
from pagekeep.library.items import change as actions
from pagekeep.library.items import reading as states
from pagekeep.library.mirror.run import mirror
from pagekeep.library.saving.reparse import Selection, enqueue_reparse
from pagekeep.model import (
    Change,
    EntryQuery,
    ItemBlob,
    ItemQuery,
    NewEntry,
    PageCheck,
    PollOutcome,
    PublishedFeed,
    Retention,
)
from pagekeep.model.lists import ItemChange, ItemList, SaveActions, SaveRule
from pagekeep.rules import Rulebook
from pagekeep.store import Store, open_accounts, open_store, parse_query
from tests.store.crawls import crawl_step, fill_crawl
from tests.store.making import NOW, Server, make_item, make_raw, postgres_server
from tests.store.sinks import fill_sink

SECRET: Final = "quincewort"
DOOR_TABLES: Final = frozenset({"users", "sessions", "tokens", "identities", "sign_in_failures"})
"""Tables that only the role of the accounts can use."""
ROLES: Final = ("pagekeep_app", "pagekeep_worker")
OWNER_FUNCTIONS: Final = frozenset({"matches"})
"""The functions that run as the owner; each names the user itself."""
LONG_AGO: Final = "2000-01-01T00:00:00.000000Z"
LATER: Final = "2099-01-01T00:00:00.000000Z"


@dataclass
class Attack:
    """What was tried, and what went wrong."""

    tried: int = 0
    faults: list[str] = field(default_factory=list)

    def check(self, what: str, good: bool) -> None:
        self.tried += 1
        if not good:
            self.faults.append(what)

    def refused(self, what: str, work: Callable[[], Any]) -> None:
        """Expect that the work finds nothing."""
        try:
            found = work()
        except PagekeepError as error:
            self.check(f"{what} shows the secret in its error", SECRET not in f"{error.message}{error.suggestions}")
        except Exception as error:
            self.check(f"{what}: {type(error).__name__}: {error}"[:200], good=False)
        else:
            self.check(f"{what} gave {found!r:.80}", not found)


# What the database itself must hold, read from its catalog: a new table without a policy is a fault.


def catalog_faults(owner: Any) -> list[str]:
    """Return what is open in the library's schema."""
    schema = "n.nspname = 'pagekeep'"
    tables = owner.execute(
        f"SELECT c.relname, c.relkind, c.relrowsecurity FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        f"WHERE {schema} AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"
    ).fetchall()
    faults = []
    for name, kind, secured in tables:
        granted = [role for role in ROLES for right in _RIGHTS if _may(owner, role, name, right)]
        if name in DOOR_TABLES:
            faults += [f"{name}: {role} has rights" for role in granted]
        elif name == "schema_version":
            faults += [f"{name}: {role} may change it" for role in ROLES if _may(owner, role, name, "UPDATE")]
        elif kind not in "rp" or not secured:
            faults.append(f"{name}: no row-level security")
        else:
            faults += _policy_faults(owner, name)
    sequences = owner.execute(
        f"SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {schema} AND c.relkind = 'S'"
    ).fetchall()
    for (name,) in sequences:
        row = owner.execute("SELECT has_sequence_privilege('pagekeep_app', %s, 'SELECT, USAGE')", (f"pagekeep.{name}",))
        faults += [f"{name}: it counts the rows of all users"] if row.fetchone()[0] else []
    functions = owner.execute(
        f"SELECT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE {schema} AND p.prosecdef"
    ).fetchall()
    return faults + [f"{name}: runs as the owner" for (name,) in functions if name not in OWNER_FUNCTIONS]


_RIGHTS: Final = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")


def _may(owner: Any, role: str, table: str, right: str) -> bool:
    row = owner.execute("SELECT has_table_privilege(%s, %s, %s)", (role, f"pagekeep.{table}", right)).fetchone()
    return bool(row[0])


def _policy_faults(owner: Any, table: str) -> Iterator[str]:
    rows = owner.execute(
        "SELECT policyname, roles, cmd, qual, with_check FROM pg_policies WHERE schemaname = 'pagekeep' AND tablename = %s",
        (table,),
    ).fetchall()
    own = [
        row for row in rows if "app.user_id" in (row[3] or "") and "app.user_id" in (row[4] or "") and row[2] == "ALL"
    ]
    if not own:
        yield f"{table}: no policy for the user's own rows"
    for name, roles, *_ in rows:
        for_workers = table in FOR_WORKERS and (name, list(roles)) == (
            f"all_{table}",
            ["pagekeep_worker"],
        )
        if not any(row[0] == name for row in own) and not for_workers:
            yield f"{table}: policy {name} opens it to {roles}"
    for right in ("TRUNCATE", "REFERENCES", "TRIGGER"):
        if any(_may(owner, role, table, right) for role in ROLES):
            yield f"{table}: {right} passes by the policies"


# Attacks by SQL.


def attack_by_sql(server: Server, attack: Attack) -> None:
    """Try every table under both roles, as a user who is not Ada."""
    import psycopg

    with psycopg.connect(server.owner, autocommit=True) as owner:
        for fault in catalog_faults(owner):
            attack.check(fault, good=False)
        tables = [
            row[0]
            for row in owner.execute(
                "SELECT table_name FROM information_schema.columns WHERE table_schema = 'pagekeep' AND column_name = 'user_id'"
            ).fetchall()
        ]
        attack.check("the catalog has no tables", len(tables) > 8)
        empty = {t for t in tables if not owner.execute(f"SELECT 1 FROM pagekeep.{t} WHERE user_id = 'ada'").fetchone()}
        attack.check(f"Ada has nothing in {empty}, so it was not attacked", empty <= _FILLED_BY_SERVER | DOOR_TABLES)
    for role, dsn in (("app", server.app), ("worker", server.worker)):
        with psycopg.connect(dsn, autocommit=True) as session:
            session.execute(f"SET ROLE pagekeep_{role}")
            session.execute("SET search_path = pagekeep, pg_temp")
            session.execute("SELECT set_config('app.user_id', 'bob', false)")
            for table in tables:
                _attack_table(session, role, table, attack)


FOR_WORKERS: Final = ("jobs", "schedules", "crawls", "sinks", "changed_items")
"""Tables of which workers see the rows of all users."""
_FILLED_BY_SERVER: Final = frozenset({"domain_memory", "item_count_changes", "item_count_transactions"})


def _attack_table(session: Any, role: str, table: str, attack: Attack) -> None:
    import psycopg

    if role == "worker" and table in FOR_WORKERS:  # a worker leases the jobs of all
        return
    columns = [
        row[0]
        for row in session.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped",
            (f"pagekeep.{table}",),
        ).fetchall()
    ]
    text = f"CAST(t AS text) LIKE '%{SECRET}%'"
    statements = [
        f"SELECT * FROM {table} t WHERE user_id = 'ada'",
        f"SELECT * FROM {table} t WHERE user_id <> 'bob'",
        f"SELECT 1 FROM {table} t WHERE {text}",
        f"SELECT COUNT(*) FROM {table} t WHERE user_id <> 'bob' HAVING COUNT(*) > 0",
        f"SELECT * FROM {table} t WHERE user_id = 'ada' FOR UPDATE",
        f"UPDATE {table} t SET user_id = 'bob' WHERE user_id = 'ada' RETURNING 1",
        f"UPDATE {table} SET user_id = user_id WHERE user_id <> 'bob' RETURNING 1",
        f"DELETE FROM {table} WHERE user_id = 'ada' RETURNING 1",
        f"WITH gone AS (DELETE FROM {table} WHERE user_id <> 'bob' RETURNING *) SELECT * FROM gone",
        f"SELECT 1/(CASE WHEN {text} THEN 0 ELSE 1 END) FROM {table} t WHERE user_id <> 'bob'",
        f"SELECT * FROM (SELECT * FROM {table} UNION ALL SELECT * FROM {table}) t WHERE user_id = 'ada'",
        f"COPY (SELECT * FROM {table} WHERE user_id <> 'bob') TO STDOUT",
        f"UPDATE {table} SET user_id = 'ada' RETURNING 1",
        f"SET row_security = off; SELECT * FROM {table}",
        f"TRUNCATE {table}",
        f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY",
        f"CREATE POLICY mine ON {table} USING (true)",
        f"CREATE RULE mine AS ON INSERT TO {table} DO ALSO NOTHING",
        f"CREATE TRIGGER mine AFTER INSERT ON {table} EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE",
        f"INSERT INTO {table} SELECT * FROM {table} WHERE user_id = 'ada' RETURNING 1",
        f"CREATE TEMP VIEW v AS SELECT * FROM {table}; SELECT * FROM v WHERE user_id <> 'bob'",
        f"SELECT most_common_vals FROM pg_stats WHERE tablename = '{table}' AND CAST(most_common_vals AS text) LIKE '%{SECRET}%'",
        *(
            f"SELECT MIN(CAST({column} AS text)) FROM {table} HAVING COUNT(*) FILTER (WHERE user_id <> 'bob') > 0"
            for column in columns
        ),
    ]
    for sql in statements:
        found: list[Any] = []
        try:
            with session.transaction(force_rollback=True):
                if sql.startswith("COPY"):
                    with session.cursor().copy(sql) as copy:
                        found = list(copy.rows())
                else:
                    result = session.execute(sql)
                    found = result.fetchall() if result.description else []
        except psycopg.errors.DivisionByZero:
            found = ["a division by zero shows that the row is there"]
        except psycopg.Error:
            pass
        session.execute("SET row_security = on")
        attack.check(f"{role}, {sql[:110]}: {found!r:.60}", not found)
    _attack_by_function(session, role, table, attack)


def _attack_by_function(session: Any, role: str, table: str, attack: Attack) -> None:
    """A function in the condition sees no row before the policy does, however cheap it says it is."""
    import psycopg

    notices: list[str] = []
    session.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    with suppress(psycopg.Error), session.transaction(force_rollback=True):
        session.execute(
            "CREATE FUNCTION pg_temp.leak(row_text text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS "
            "$$BEGIN RAISE NOTICE '%', row_text; RETURN true; END$$"
        )
        session.execute(f"SELECT COUNT(*) FROM {table} t WHERE pg_temp.leak(CAST(t AS text))").fetchall()
    attack.check(f"{role}: a function sees rows of {table}", not any(SECRET in notice for notice in notices))


# Attacks by the store's methods and by the use cases.


def fill_lists(library: Store, secret: str, item_id: str) -> dict[str, str]:
    """Add a list, a save rule and a change of an item; return the ids."""
    reading = library.lists.add(ItemList(str(uuid.uuid4()), secret, "manual", "", NOW, NOW))
    rule = SaveRule(str(uuid.uuid4()), secret, secret, SaveActions(tags=(secret,)), True, 1, NOW, NOW)
    library.save_rules.put(rule)
    action = str(uuid.uuid4())
    library.actions.add(action, secret, NOW)
    library.actions.change(action, [item_id], ItemChange(add_tags=(f"{secret} too",), add_to=(reading.id,)), NOW)
    return {"list": reading.id, "save_rule": rule.id, "action": action}


def fill(library: Store, secret: str) -> dict[str, str]:
    """Put something into every table; return the ids."""
    item = make_item(
        user_id=library.user_id, title=f"The {secret}", content=f"About the {secret}.", tags=[secret],
        url=f"https://{secret}.example/page", domain=f"{secret}.example", author=secret,
    )  # fmt: skip
    stored = library.items.save(item, make_raw(f"<p>{secret}</p>".encode()))
    for number in range(30):
        library.items.save(make_item(number + 1, user_id=library.user_id, title=f"{secret} {number}"), None)
    deleted = library.items.save(make_item(99, user_id=library.user_id, title=secret), None)
    library.items.delete(deleted.id, NOW)
    annotation = annotations.annotate(library, stored.id, secret, note=secret)
    states.report_position(library, stored.id, 0.5)
    dead = library.jobs.add(f"https://{secret}.example/dead", f"https://{secret}.example/dead", {}, NOW)
    library.jobs.lease("hand", NOW, LATER)
    library.jobs.fail(dead.id, "hand", {"type": "NotFound", "message": secret, "suggestions": []}, retry_at=None)
    job = library.jobs.add(f"https://{secret}.example/job", f"https://{secret}.example/job", {"tags": [secret]}, LATER)
    library.idempotency.claim(f"key-{secret}", secret, NOW, LONG_AGO, LONG_AGO)
    upload = str(uuid.uuid4())
    library.uploads.put_part(upload, 0, secret.encode(), NOW)
    blob = library.blobs.put(secret.encode(), NOW)
    picture = f"https://{secret}.example/picture.png"
    library.blobs.link(stored.id, [ItemBlob("picture", picture, "kept", NOW, "image/png", blob, len(secret))])
    schedule = library.schedules.put("watch", stored.id, item.url, 3600, LATER, NOW)
    change = Change(str(uuid.uuid4()), stored.id, 1, 0, 1, 1, secret, NOW)
    newer = make_raw(f"<p>The {secret} again</p>".encode())
    library.changes.add(schedule.id, {"seen": secret}, item, newer, change, retention=Retention())
    library.changes.put_check(PageCheck(stored.id, NOW, LATER, "gone", 1, NOW, secret))
    feed, _ = library.feeds.add("web", f"https://{secret}.example/feed", now=NOW, title=secret)
    new = NewEntry(
        secret, secret, url=f"https://{secret}.example/entry", content=secret, page=make_raw(secret.encode())
    )
    (entry,) = library.entries.put(feed.id, [new], NOW).added
    library.feeds.publish(PublishedFeed(str(uuid.uuid4()), secret, f"tag:{secret}", NOW))
    crawl = fill_crawl(library)
    after = library.search.find(parse_query(secret, limit=5)).next or ""
    listed = library.search.find(ItemQuery(limit=5)).next or ""
    return {
        "item": stored.id,
        "deleted": deleted.id,
        "annotation": annotation.id,
        "dead": dead.id,
        "job": job.id,
        "url": item.url,
        "key": f"key-{secret}",
        "domain": f"{secret}.example",
        "upload": upload,
        "blob": blob,
        "picture": picture,
        "change": change.id,
        "schedule": schedule.id,
        "feed": feed.id,
        "entry": entry,
        "published": library.feeds.published()[0].id,
        "crawl": crawl.id,
        **fill_lists(library, secret, stored.id),
        "sink": fill_sink(library).id,
        "after": after,
        "listed": listed,
    }


def attack_by_store(bob: Store, ada: dict[str, str], attack: Attack) -> None:
    """Call every method with Ada's keys."""
    for calls in (item_calls, list_calls, job_and_file_calls, feed_and_crawl_calls, sink_calls, search_calls):
        for name, call in calls(bob, ada).items():
            attack.refused(f"store.{name}", call)


def item_calls(bob: Store, ada: dict[str, str]) -> dict[str, Callable[[], Any]]:
    """Calls about items and their history."""
    return {
        "get": lambda: bob.items.get(ada["item"]),
        "get by prefix": lambda: bob.items.get(ada["item"][:8]),
        "get deleted": lambda: bob.items.get(ada["deleted"]),
        "find_url": lambda: bob.items.by_url(ada["url"]),
        "raw": lambda: bob.items.raw(ada["item"]),
        "annotations": lambda: bob.annotations.of_item(ada["item"]),
        "snapshots": lambda: bob.snapshots.list(ada["item"]),
        "snapshot_raw": lambda: bob.snapshots.raw(ada["item"], 1),
        "pin_snapshot": lambda: bob.snapshots.pin(ada["item"], 1, True),
        "schedule": lambda: bob.schedules.get("watch", ada["item"]),
        "schedules": lambda: bob.schedules.list("watch"),
        "remove_schedule": lambda: bob.schedules.remove("watch", ada["item"]),
        "change": lambda: bob.changes.get(ada["change"]),
        "changes": lambda: bob.changes.list(),
        "mark_seen": lambda: bob.changes.mark_seen([ada["change"]], NOW),
        "mark all seen": lambda: bob.changes.mark_seen(None, NOW),
        "page_check": lambda: bob.changes.get_check(ada["item"]),
        "due_checks": lambda: bob.changes.due_checks(LATER, LATER, 1000),
        "set_metadata": lambda: bob.items.set_metadata(ada["item"], NOW, pinned=True),
        "mark_opened": lambda: bob.items.mark_opened(ada["item"], NOW),
        "delete": lambda: bob.items.delete(ada["item"], NOW),
        "restore": lambda: bob.items.restore(ada["deleted"], NOW),
        "purge by id": lambda: bob.items.purge([ada["item"], ada["deleted"]]),
        "purge all": lambda: bob.items.purge(),
        "delete_annotation": lambda: bob.annotations.delete(ada["annotation"], NOW),
    }  # fmt: skip


def list_calls(bob: Store, ada: dict[str, str]) -> dict[str, Callable[[], Any]]:
    """Calls about lists, save rules, and changes that can be undone."""
    return {
        "lists": lambda: bob.lists.list(),
        "list_named": lambda: bob.lists.get(ada["list"]),
        "lists_of": lambda: bob.lists.of_item(ada["item"]),
        "list_page": lambda: bob.lists.page(ada["list"]),
        "change_list": lambda: bob.lists.change(ada["list"], NOW, name="bob"),
        "remove_list": lambda: bob.lists.remove(ada["list"]),
        "move_in_list": lambda: bob.lists.move(ada["list"], ada["item"], None),
        "save_rules": lambda: bob.save_rules.list(),
        "remove_save_rule": lambda: bob.save_rules.remove(ada["save_rule"]),
        "actions": lambda: bob.actions.list(),
        "action": lambda: bob.actions.get(ada["action"]),
        "waiting_items": lambda: bob.actions.waiting_items(ada["action"], 10),
        "undo_items": lambda: bob.actions.undo(ada["action"], 10, NOW),
        "change_items": lambda: bob.actions.change(ada["action"], [ada["item"]], ItemChange(deleted=True), NOW),
        "matches": lambda: bob.search.matches(ada["item"], parse_query("")),
    }  # fmt: skip


def job_and_file_calls(bob: Store, ada: dict[str, str]) -> dict[str, Callable[[], Any]]:
    """Calls about jobs, files and claims."""
    return {
        "job": lambda: bob.jobs.get(ada["job"]),
        "jobs": lambda: bob.jobs.list(),
        "job_counts": lambda: any(bob.jobs.counts().values()),
        "revive": lambda: bob.jobs.revive(ada["dead"], NOW),
        "forget": lambda: bob.jobs.remove(ada["dead"]),
        "free": lambda: bob.jobs.make_due(LATER, LATER),
        "lease": lambda: bob.jobs.lease("thief", LATER, LATER),
        "heartbeat": lambda: bob.jobs.heartbeat(ada["job"], "hand", LATER),
        "finish": lambda: bob.jobs.finish(ada["job"], "hand"),
        "upload": lambda: bob.uploads.get_part(ada["upload"], 0),
        "blob": lambda: bob.blobs.get(ada["blob"]),
        "item_blobs": lambda: bob.blobs.of_item(ada["item"]),
        "find_source": lambda: bob.blobs.find_source(ada["picture"], ("picture",)),
        "link_blobs": lambda: bob.blobs.link(ada["item"], [ItemBlob("picture", "x", "left_out", NOW)]),
        "unlink_blobs": lambda: bob.blobs.replace_links(ada["item"], ("picture",), ()),
        "collect_blobs": lambda: bob.blobs.collect(LATER, LATER).count,
        "blob_bytes": lambda: bob.blobs.total_bytes(),
        "storage": lambda: bob.blobs.storage().sites,
        "claimed_at": lambda: bob.idempotency.claimed_at(ada["key"]),
        "renew_claim": lambda: bob.idempotency.renew(ada["key"], NOW, LATER),
    }  # fmt: skip


def feed_and_crawl_calls(bob: Store, ada: dict[str, str]) -> dict[str, Callable[[], Any]]:
    """Calls about feeds, their entries, and crawls."""
    return {
        "feed": lambda: bob.feeds.get(ada["feed"]),
        "feed by prefix": lambda: bob.feeds.get(ada["feed"][:8]),
        "change_feed": lambda: bob.feeds.change(ada["feed"], NOW, folder="x"),
        "remove_feed": lambda: bob.feeds.remove(ada["feed"]),
        "put_entries": lambda: bob.entries.put(ada["feed"], [NewEntry("x", "x")], NOW).added,
        "settle_polls": lambda: bob.feeds.settle_polls([PollOutcome(ada["feed"], NOW, {}, NOW, status="gone")], NOW),
        "due_feeds": lambda: bob.feeds.due(LATER, NOW, 100),
        "entry": lambda: bob.entries.get(ada["entry"]),
        "entry_page": lambda: bob.entries.page(ada["entry"]),
        "entries": lambda: bob.entries.find(EntryQuery(feed_ids=(ada["feed"],))).entries,
        "fingerprints": lambda: bob.entries.fingerprints(ada["feed"]),
        "mark_entries": lambda: bob.entries.mark([ada["entry"]], True, NOW),
        "mark_kept": lambda: bob.entries.mark_kept(ada["entry"], None, NOW),
        "set_entry_text": lambda: bob.entries.set_text(ada["entry"], "x", None, {}),
        "entries_left_out": lambda: bob.entries.left_out(),
        "entries_since": lambda: bob.entries.since(NOW),
        "trim_entries": lambda: bob.entries.trim(ada["feed"], LATER, count=0, since=LATER, least=0, listed=()),
        "unpublish": lambda: bob.feeds.unpublish(ada["published"]),
        "crawl": lambda: bob.crawls.get(ada["crawl"]),
        "crawls": lambda: bob.crawls.list(),
        "running_crawls": lambda: bob.crawls.running(),
        "resume_crawl": lambda: bob.crawls.resume(ada["crawl"], {}, NOW),
        "cancel_crawl": lambda: bob.crawls.cancel(ada["crawl"], NOW),
        "remove_crawl": lambda: bob.crawls.remove(ada["crawl"]),
        "drop_earlier_run": lambda: bob.crawls.remove_earlier_run(ada["crawl"]),
        "crawled": lambda: bob.crawls.pages(ada["crawl"], ("kept",)),
        "crawl_robots": lambda: bob.crawls.robots(ada["crawl"]),
        "crawl_raw": lambda: bob.crawls.raw(ada["crawl"], 0),
        "crawl_workers": lambda: bob.frontier.workers(ada["crawl"]),
        "release_leases": lambda: bob.frontier.release_leases(ada["crawl"], ["me"], NOW),
        "advance_crawl": lambda: crawl_step(bob, ada["crawl"]),
    }  # fmt: skip


def sink_calls(bob: Store, ada: dict[str, str]) -> dict[str, Callable[[], Any]]:
    """Calls about sinks and the outbox."""
    sink = ada["sink"]
    return {
        "sink": lambda: bob.sinks.get(sink),
        "sinks": lambda: bob.sinks.list(),
        "change_sink": lambda: bob.sinks.change(sink, {}, None),
        "switch_sink": lambda: bob.sinks.switch(sink, on=False, error=None, now=NOW),
        "remove_sink": lambda: bob.sinks.remove(sink),
        "due_sinks": lambda: bob.sinks.due(LATER, LATER, each=5),
        "users_with_changes": lambda: bob.sinks.users_with_changes(),
        "lease_sink": lambda: bob.sinks.lease(sink, "me", LATER, LATER, LATER),
        "begin_delivery": lambda: bob.outbox.begin(sink, "me", LATER, LATER),
        "post_event": lambda: bob.outbox.post_event(sink, "mine", {}, NOW),
        "changed_items": lambda: bob.outbox.changed_items(),
        "deliveries": lambda: bob.outbox.list(sink),
        "all deliveries": lambda: bob.outbox.list(),
        "outbox_counts": lambda: bob.outbox.counts(),
        "revive_deliveries": lambda: bob.outbox.revive(NOW, sink_id=sink),
        "drop_dead": lambda: bob.outbox.remove_dead(sink_id=sink),
        "sent_item": lambda: bob.outbox.sent_item(sink, ada["item"]),
    }


def search_calls(bob: Store, ada: dict[str, str]) -> dict[str, Callable[[], Any]]:
    """Calls that look at the library as a whole."""
    return {
        "search": lambda: bob.search.find(parse_query(SECRET)).hits,
        "search by prefix": lambda: bob.search.find(parse_query(f"{SECRET[:3]}*")).hits,
        "search without a word": lambda: bob.search.find(parse_query(f"-nothing {SECRET}")).hits,
        "search by tag": lambda: bob.search.find(parse_query(f"tag:{SECRET}")).hits,
        "search by domain": lambda: bob.search.find(parse_query(f"domain:{ada['domain']}")).hits,
        "search deleted": lambda: bob.search.find(parse_query("is:deleted")).hits,
        "search on, with her key": lambda: bob.search.find(replace(parse_query(SECRET, limit=5), after=ada["after"])).hits,
        "list on, with her key": lambda: bob.search.find(ItemQuery(limit=5, after=ada["listed"])).hits,
        "list": lambda: bob.search.find(ItemQuery()).hits,
        "stats": lambda: {name: count for name, count in bob.counts.totals().items() if count},
        "stale": lambda: list(bob.items.stale_ids(parser_version=99, rules_hash="x")),
        "versions": lambda: bob.items.versions(),
        "faults": lambda: bob.check(),
    }  # fmt: skip


def attack_by_use_cases(bob: Store, ada: dict[str, str], folder: Path, attack: Attack) -> None:
    """Export, import, mirror, change, annotate, queue and back up as Bob."""
    settings = Settings()
    for name, move in actions.MOVES.items():
        attack.refused(f"change {name}", lambda move=move: actions.change_item(bob, ada["item"], move))  # type: ignore[misc]
    attack.refused("open", lambda: find.open_item(bob, ada["item"]))
    attack.refused("change many", lambda: actions.change_selected(bob, [ada["item"]], ItemChange(pinned=True), "x"))
    attack.refused("tag", lambda: actions.change_item(bob, ada["item"], ItemChange(add_tags=("x",))))
    attack.refused("purge", lambda: actions.purge_items(bob, [ada["deleted"]]))
    attack.refused("look up", lambda: find.look_up_url(bob, ada["url"]))
    attack.refused("walk", lambda: list(find.walk_items(bob)))
    attack.refused("annotate", lambda: annotations.annotate(bob, ada["item"], "x"))
    attack.refused("annotations", lambda: annotations.get_annotations(bob, ada["item"]))
    attack.refused(
        "edit annotation", lambda: annotations.edit_annotation(bob, ada["item"], ada["annotation"], note="x")
    )
    attack.refused("remove annotation", lambda: annotations.remove_annotation(bob, ada["item"], ada["annotation"]))
    attack.refused("position", lambda: states.report_position(bob, ada["item"], 0.5))
    attack.refused("reading state", lambda: states.choose_state(bob, ada["item"], "read"))
    attack.refused("started items", lambda: states.started_items(bob))
    attack.refused("all annotations", lambda: bob.annotations.find().annotations)
    attack.refused("annotated items", lambda: bob.annotations.find_newest().annotations)
    attack.refused("items by id", lambda: bob.items.get_many([ada["item"]]))
    attack.refused("job", lambda: bob.jobs.get(ada["job"]))
    attack.refused("revive", lambda: queue.revive_job(bob, ada["dead"]))
    attack.refused("revive by prefix", lambda: queue.revive_by_prefix(bob, ada["dead"][:6]))
    attack.refused("revive waiting", lambda: queue.revive_waiting(bob))
    attack.refused("forget", lambda: bob.jobs.remove(ada["dead"]))
    attack.refused("reparse", lambda: enqueue_reparse(bob, Selection(keys=(ada["item"],))))
    for format in FORMATS:
        path = folder / f"bob-{format}"
        with suppress(NotFound):  # no book without pages
            asyncio.run(export(bob, path, ExportOptions(format=format), settings))
        attack.check(f"export to {format} has Ada's words", not _holds_secret(path))
    mirror(bob, folder / "mirror")
    attack.check("the mirror has Ada's words", not _holds_secret(folder / "mirror"))
    bob.backup(str(folder / "bob.backup"))
    attack.check("the backup has Ada's words", not _holds_secret(folder / "bob.backup"))


def _holds_secret(path: Path) -> bool:
    import zlib

    files = [each for each in (path, *path.rglob("*")) if each.is_file()]
    for file in files:
        data = file.read_bytes()
        with suppress(zlib.error):
            data += zlib.decompress(data, 47)
        if SECRET.encode() in data or SECRET in file.name:
            return True
    return False


def attack_by_copies(server: Server, folder: Path, attack: Attack) -> None:
    """Bob has the files that Ada exported: importing them gives him copies, and changes nothing of hers."""
    from pagekeep.store import postgres

    with closing(open_store(server.app, "ada")) as ada, closing(open_store(server.app, "carl")) as carl:
        data = folder / "ada.jsonl"
        asyncio.run(export(ada, data, ExportOptions(format="jsonl"), Settings()))
        before = rows_of(server, "ada")
        report = import_stream(io.BytesIO(data.read_bytes()), "ada.jsonl", carl, ImportPlan(Rulebook()))
        attack.check("the copies were not imported", report.added == 31 and report.failed == 0)
        for item in list(find.walk_items(carl)):
            actions.change_item(carl, item.id, actions.MOVES["delete"])
        attack.check("Carl has not purged his copies", actions.purge_items(carl) == 31)
        ada.backup(str(folder / "ada.backup"))
        postgres.restore(server.app, str(folder / "ada.backup"), "dora")
        attack.check("imports, purges or restores of copies changed Ada's rows", rows_of(server, "ada") == before)


def attack_accounts(server: Server, attack: Attack) -> None:
    """Tokens and sessions."""
    with closing(open_accounts(server.shared)) as accounts:
        users = [
            app_accounts.add_user(accounts, f"{name}{uuid.uuid4().hex[:6]}", "x" * 14).id for name in ("ada", "bob")
        ]
        secret = app_accounts.add_token(accounts, users[0], SECRET)
        session = app_accounts.open_session(accounts, users[0])
        attack.refused("tokens", lambda: app_accounts.get_tokens(accounts, users[1]))
        attack.refused("revoke", lambda: app_accounts.revoke_token(accounts, users[1], secret.token.id))
        attack.refused("sessions", lambda: app_accounts.sessions(accounts, users[1]))
        for key in [each.id for each in app_accounts.sessions(accounts, users[0])]:
            attack.refused("end session", lambda key=key: accounts.end_session(users[1], key))  # type: ignore[misc]
        attack.check("the token was revoked", app_accounts.token_holder(accounts, secret.secret)[0].user_id == users[0])
        attack.check("the session was ended", app_accounts.session_user(accounts, session) is not None)


def attack_at_once(server: Server, rounds: int, attack: Attack) -> None:
    """Two users by turns on the same connections: none sees what the other has."""
    wrong: list[str] = []

    def read(user: str, own: int) -> None:
        with closing(open_store(server.app, user)) as library:
            for _ in range(rounds):
                found = library.search.find(ItemQuery(limit=100)).items
                if len(found) != own or any(item.user_id != user for item in found):
                    wrong.append(f"{user} saw {len(found)} items")

    with closing(open_store(server.app, "erin")) as erin:
        fill(erin, "medlar")
    threads = [Thread(target=read, args=(user, 31)) for user in ("ada", "erin") * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    attack.tried += rounds * len(threads) - 1
    attack.check(f"at once: {wrong[:3]}", not wrong)


def rows_of(server: Server, user: str) -> list[str]:
    """Return all rows of a user, as the owner sees them."""
    import psycopg

    with psycopg.connect(server.owner, autocommit=True) as owner:
        tables = owner.execute(
            "SELECT table_name FROM information_schema.columns WHERE table_schema = 'pagekeep' AND column_name = 'user_id'"
        ).fetchall()
        found = []
        for (table,) in sorted(tables):
            rows = owner.execute(
                f"SELECT CAST(t AS text) FROM pagekeep.{table} t WHERE user_id = %s", (user,)
            ).fetchall()
            found += sorted(f"{table}: {row[0]}" for row in rows)
        return found


def attack(server: Server, rounds: int = 20) -> Attack:
    """Run all attacks on a server without users."""
    result = Attack()
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        ada = stack.enter_context(closing(open_store(server.app, "ada")))
        known = fill(ada, SECRET)
        before = rows_of(server, "ada")
        result.check("Ada has no rows", len(before) > 70)
        attack_by_sql(server, result)
        bob = stack.enter_context(closing(open_store(server.app, "bob")))
        attack_by_store(bob, known, result)
        attack_by_use_cases(bob, known, Path(folder), result)
        attack_accounts(server, result)
        result.check("Ada's rows were changed", rows_of(server, "ada") == before)
        # The engine numbers the commits of each user's connections.
        own = [row for row in rows_of(server, "bob") if not row.startswith("commits: ")]
        result.check(f"Bob has rows: {own[:2]}", not own)
        attack_by_copies(server, Path(folder), result)
        attack_at_once(server, rounds, result)
    return result


if __name__ == "__main__":
    began = time.monotonic()
    with postgres_server() as running:
        done = attack(running, 200 if "--full" in sys.argv else 20)
    print(f"{done.tried} attacks in {time.monotonic() - began:.0f} s, {len(done.faults)} faults")
    print("\n".join(done.faults))
    by_route = 0
    if "--full" in sys.argv:
        routes = ["tests/doors/http/test_routes.py", "-q", "-k", "postgres", "-p", "no:cacheprovider"]
        by_route = subprocess.run([sys.executable, "-m", "pytest", *routes]).returncode
    sys.exit(bool(done.faults) or by_route)
