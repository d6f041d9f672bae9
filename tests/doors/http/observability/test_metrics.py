"""Numbers for Prometheus, and health."""

from __future__ import annotations

from dataclasses import replace

from fastapi.testclient import TestClient

from pagekeep import clock
from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app
from pagekeep.store import Store
from tests.doors.http.conftest import LOCAL
from tests.site.fixtures import BARE, Shore, article


def numbers(client: TestClient) -> dict[str, float]:
    lines = client.get("/metrics").text.splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def test_pages_are_counted_by_what_became_of_them(client: TestClient, shore: Shore) -> None:
    shore.bodies.update(a=article(300), b=BARE)
    for name in ("a", "b", "gone"):
        client.post("/api/v1/saves", json={"url": shore.url(name)})
    found = numbers(client)
    assert found['pagekeep_extract_total{level="article"}'] == 1
    assert found['pagekeep_extract_total{level="bookmark"}'] >= 1
    assert found['pagekeep_errors_total{type="FetchHttpError"}'] == 1
    assert found['pagekeep_captures_total{outcome="added"}'] == 2
    assert found['pagekeep_captures_total{outcome="failed"}'] == 1
    assert found['pagekeep_duration_seconds_count{stage="store"}'] == 2
    assert found['pagekeep_duration_seconds_count{stage="fetch"}'] >= 2
    assert found['pagekeep_duration_seconds_count{stage="extract"}'] >= 2
    assert found['pagekeep_duration_seconds_count{stage="parse"}'] >= 2
    assert found["pagekeep_quality_score_count"] == found["pagekeep_word_count_count"] >= 2
    assert found["pagekeep_render_total"] == 0
    assert found['pagekeep_request_seconds_count{method="POST",route="/api/v1/saves",status="201"}'] == 2


def test_jobs_that_wait_are_counted_for_all_users(client: TestClient, library: Store) -> None:
    library.jobs.add("https://example.com/", "https://example.com/", {}, clock.add_seconds(clock.now(), 3600))
    assert numbers(client)['pagekeep_jobs{state="queued"}'] == 1


def test_on_a_shared_server_health_is_everyones_and_numbers_are_not(settings: Settings) -> None:
    with TestClient(create_app(replace(settings, shared=True), processes=1), base_url=LOCAL) as client:
        assert [client.get(path).status_code for path in ("/healthz", "/readyz", "/metrics")] == [200, 200, 403]
