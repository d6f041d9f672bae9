"""Spans for OpenTelemetry, sent to a collector that listens on this machine."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from fastapi.testclient import TestClient

from pagekeep.config import Settings
from pagekeep.doors.http.application import create_app
from tests.doors.http.conftest import LOCAL
from tests.site.fixtures import Shore, article

trace_service = pytest.importorskip(
    "opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason="the extra `tracing` is not installed"
)


class Collector:
    """Keeps what it is sent."""

    def __init__(self) -> None:
        self.received: list[trace_service.ExportTraceServiceRequest] = []
        kept = self.received

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                plain = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
                kept.append(trace_service.ExportTraceServiceRequest.FromString(plain))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)

    @property
    def spans(self) -> dict[str, Any]:
        """By name."""
        scopes = (scope for one in self.received for whole in one.resource_spans for scope in whole.scope_spans)
        return {span.name: span for scope in scopes for span in scope.spans}


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    listening = Collector()
    thread = Thread(target=listening.server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{listening.server.server_port}")
    yield listening
    listening.server.shutdown()
    listening.server.server_close()
    thread.join()


def attributes(span: Any) -> dict[str, Any]:
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


def test_a_saved_page_is_one_trace_from_the_request_down_to_the_stages(
    settings: Settings, shore: Shore, collector: Collector
) -> None:
    shore.bodies.update(secret=article(300))
    trace = "0af7651916cd43dd8448eb211c80319c"
    with TestClient(create_app(settings, processes=1), base_url=LOCAL) as client:
        headers = {"traceparent": f"00-{trace}-b7ad6b7169203331-01"}
        client.post("/api/v1/saves", json={"url": shore.url("secret")}, headers=headers).raise_for_status()
    found = collector.spans
    assert {span.trace_id.hex() for span in found.values()} == {trace}
    above = {found[name].span_id: name for name in found}
    chain = {name: above.get(found[name].parent_span_id) for name in found}
    assert chain["page"] == "POST /api/v1/saves"
    assert chain["fetch"] == chain["extract"] == "page"
    assert chain["parse"] == chain["survey"] == chain["markdown"] == "extract"
    for inner, outer in chain.items():
        if outer:
            assert found[outer].start_time_unix_nano <= found[inner].start_time_unix_nano
            assert found[inner].end_time_unix_nano <= found[outer].end_time_unix_nano
    assert attributes(found["page"])["pagekeep.level"] == "article"
    assert attributes(found["POST /api/v1/saves"])["http.response.status_code"] == 201
    assert b"secret" not in b"".join(one.SerializeToString() for one in collector.received)


def test_a_page_that_cannot_be_read_is_reported_with_its_error(
    settings: Settings, shore: Shore, collector: Collector
) -> None:
    shore.bodies.update(a=" \n")
    with TestClient(create_app(settings, processes=1), base_url=LOCAL) as client:
        answer = client.post("/api/v1/extract", json={"url": shore.url("a")})
    assert answer.status_code >= 400
    assert attributes(collector.spans["page"])["error.type"] == answer.json()["error"]["type"]


def test_nothing_is_sent_where_it_was_not_requested(
    settings: Settings, shore: Shore, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT")
    shore.bodies.update(a=article(300))
    with TestClient(create_app(settings, processes=1), base_url=LOCAL) as client:
        client.post("/api/v1/saves", json={"url": shore.url("a")}).raise_for_status()
    assert collector.received == []
