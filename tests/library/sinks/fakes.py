"""Other programs that items are sent to: each checks every request, keeps what arrived, and misbehaves when asked to.

`behave(number)` says what happens to the request with this number (of those that change something):
`ok`; `500` and `429` before anything is done; `lost`: done, and then 500; `die` and `die after`: the connection is closed
before or after; `stall`: no answer, for longer than clients wait.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from jsonschema import Draft202012Validator

from tests.library.sinks import anytype_schema

Answer = tuple[int, Any]
STALL_SECONDS = 0.8


def behave_well(_number: int) -> str:
    return "ok"


class Fake:
    """A program with an API. `faults` has what was wrong with requests."""

    retry_after = "0"

    def __init__(self, behave: Callable[[int], str] = behave_well) -> None:
        self.behave = behave
        self.faults: list[str] = []
        self.requests: list[tuple[str, str]] = []
        self.outcomes: Counter[str] = Counter()
        self.lock = threading.Lock()
        self._changes = 0
        self.url = ""

    def changes(self, method: str, path: str) -> bool:
        return method != "GET"

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        raise NotImplementedError

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        method, path = handler.command, handler.path
        headers = {name.lower(): value for name, value in handler.headers.items()}
        length = int(headers.get("content-length") or 0)
        body = handler.rfile.read(length)
        if len(body) < length:  # the client was killed while it sent the request
            handler.close_connection = True
            return
        with self.lock:
            self.requests.append((method, path))
            how = "ok"
            if self.changes(method, urlsplit(path).path):
                how = self.behave(self._changes)
                self._changes += 1
            self.outcomes[how] += 1
            status, answer = (0, None)
            if how in ("ok", "lost", "die after", "stall"):
                status, answer = self.answer(method, path, headers, body)
        if how == "stall":
            time.sleep(STALL_SECONDS)
        if how in ("die", "die after", "stall"):
            handler.close_connection = True
            return
        if how in ("500", "lost"):
            status, answer = 500, {"message": "a fault of the fake"}
        if how == "429":
            status, answer = 429, {}
        data = b"" if status == 204 else json.dumps(answer).encode()
        handler.send_response(status)
        if how == "429":
            handler.send_header("retry-after", self.retry_after)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def fault(self, text: str, status: int = 400) -> Answer:
        self.faults.append(text)
        return status, {"message": text}


@contextmanager
def running(fake: Fake) -> Iterator[Any]:
    """The fake on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_any(self) -> None:
            fake.handle(self)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_any  # noqa: N815

        def log_message(self, *_values: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *_values: object) -> None:
            """Clients are killed in the middle of requests."""

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    fake.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()


class Webhooks(Fake):
    """A receiver that verifies every signature with its own code, and knows repeated messages by their id."""

    def __init__(self, secret: str, behave: Callable[[int], str] = behave_well) -> None:
        super().__init__(behave)
        self.key = base64.b64decode(secret.split("_", 1)[1])
        self.messages: dict[str, dict[str, Any]] = {}
        self.order: list[str] = []
        self.repeated: Counter[str] = Counter()
        self.raw: list[tuple[dict[str, str], bytes]] = []

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        name, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
        signed = b".".join((name.encode(), stamp.encode(), body))
        own = "v1," + base64.b64encode(hmac.digest(self.key, signed, hashlib.sha256)).decode()
        if own not in headers.get("webhook-signature", "").split(" "):
            return self.fault("the signature is wrong", 401)
        if not name or abs(int(stamp) - time.time()) > 300:
            return self.fault("no id, or a timestamp that is too old")
        message = json.loads(body)
        if not {"type", "timestamp", "data"} <= set(message):
            return self.fault("not an event of Standard Webhooks")
        self.raw.append((headers, body))
        if name in self.messages:
            self.repeated[name] += 1
            if self.messages[name]["data"] != message["data"]:
                self.fault(f"another body with the same id {name}")
        else:
            self.messages[name] = message
            self.order.append(name)
        return 204, None


class Reader(Fake):
    """Readwise Reader: one document per address, a token, and a limit of requests."""

    token = "reader-token"

    def __init__(self, behave: Callable[[int], str] = behave_well) -> None:
        super().__init__(behave)
        self.documents: dict[str, dict[str, Any]] = {}
        self.updates: list[tuple[str, dict[str, Any]]] = []
        self.deleted: set[str] = set()

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        if headers.get("authorization") != f"Token {self.token}":
            return 401, {"detail": "Invalid token."}
        if (method, path) == ("GET", "/api/v2/auth/"):
            return 204, None
        data = json.loads(body)
        if (method, path) == ("POST", "/api/v3/save/"):
            return self._save(data)
        found = re.fullmatch(r"/api/v3/update/([^/]+)/", path)
        if method != "PATCH" or found is None:
            return self.fault(f"no route {method} {path}", 404)
        if found[1] in self.deleted:
            return 404, {}
        if unknown := set(data) - {"title", "author", "summary", "published_date", "image_url", "location", "tags"}:
            return self.fault(f"unknown fields of an update: {unknown}")
        self.updates.append((found[1], data))
        return 200, {"id": found[1]}

    def _save(self, data: dict[str, Any]) -> Answer:
        known = {
            *("url", "html", "should_clean_html", "title", "author", "summary", "published_date", "image_url"),
            *("location", "category", "saved_using", "tags", "notes"),
        }
        if unknown := set(data) - known:
            return self.fault(f"unknown fields: {unknown}")
        if not str(data.get("url", "")).startswith(("http://", "https://")):
            return self.fault("no url")
        if data.get("location", "new") not in ("new", "later", "archive", "feed"):
            return self.fault("an unknown location")
        if data["url"] in self.documents:
            return 200, {"id": self.documents[data["url"]]["id"], "url": "https://read.readwise.io/x"}
        self.documents[data["url"]] = {"id": f"doc{len(self.documents)}", **data}
        return 201, {"id": self.documents[data["url"]]["id"], "url": "https://read.readwise.io/x"}


class AnytypeApp(Fake):
    """Anytype with one space; every request is checked with the schemas in `anytype_schema.py`."""

    key = "anytype/key="
    space = "bafyspace.1"

    def __init__(self, behave: Callable[[int], str] = behave_well) -> None:
        super().__init__(behave)
        self.objects: dict[str, dict[str, Any]] = {}
        self.properties = {"source": "url", "description": "text"}
        self.deleted: set[str] = set()
        self.code = "4711"
        self.challenges: list[str] = []

    def changes(self, method: str, path: str) -> bool:
        return path.rstrip("/").rpartition("/")[2] == "objects" or method == "PATCH"

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        parts = urlsplit(path)
        route, values = self._route(method, parts.path)
        if route is None:
            return self.fault(f"no route {method} {parts.path}", 404)
        if unknown := set(parse_qs(parts.query)) - anytype_schema.QUERY:
            return self.fault(f"unknown parameters: {unknown}")
        if headers.get("anytype-version") != anytype_schema.VERSION:
            return self.fault("no version")
        if route not in anytype_schema.WITHOUT_KEY and headers.get("authorization") != f"Bearer {self.key}":
            return 401, {"code": "unauthorized"}
        schema = anytype_schema.REQUESTS[method, route]
        data = json.loads(body) if body else None
        if (data is None) != (schema is None):
            return self.fault(f"a body that is missing, or not expected: {method} {route}")
        if schema is not None:
            errors = [error.message for error in Draft202012Validator(schema).iter_errors(data)]
            if errors:
                return self.fault(f"{method} {route}: {errors[0][:300]}")
        return self._do(method, route, values, data or {})

    def _route(self, method: str, path: str) -> tuple[str | None, tuple[str, ...]]:
        for verb, route in anytype_schema.REQUESTS:
            found = re.fullmatch(re.sub(r"\{\w+\}", "([^/]+)", route), path)
            if verb == method and found:
                return route, found.groups()
        return None, ()

    def _do(self, method: str, route: str, values: tuple[str, ...], data: dict[str, Any]) -> Answer:
        if route == "/v1/auth/challenges":
            self.challenges.append(f"challenge{len(self.challenges)}")
            return 201, {"challenge_id": self.challenges[-1]}
        if route == "/v1/auth/api_keys":
            good = data["challenge_id"] in self.challenges and data["code"] == self.code
            return (201, {"api_key": self.key}) if good else (400, {"code": "bad_request"})
        if route == "/v1/spaces":
            chat = {"id": "chat", "name": "Talk", "object": "chat"}
            return 200, {"data": [chat, {"id": self.space, "name": "Notes", "object": "space"}], "pagination": {}}
        if values[0] != self.space:
            return self.fault("another space", 404)
        if route.endswith("/properties"):
            return self._property(method, data)
        if route.endswith("/search"):
            wanted = {(one["property_key"], one["text"]) for one in data["filters"]["conditions"]}
            found = [one for one in self.objects.values() if wanted <= set(one["texts"].items())]
            return 200, {"data": [_render(one) for one in found], "pagination": {"total": len(found)}}
        unknown = {one["key"] for one in data.get("properties", ())} - set(self.properties)
        if unknown:
            return self.fault(f"unknown properties {unknown}")
        if method == "PATCH":
            if values[1] not in self.objects or values[1] in self.deleted:
                return 404, {}
            self._set(self.objects[values[1]], data, data.get("markdown"))
            return 200, {"object": _render(self.objects[values[1]])}
        made: dict[str, Any] = {"id": f"bafyobject{len(self.objects)}", "type": data["type_key"], "versions": 0}
        self._set(made, data, data.get("body"))
        self.objects[made["id"]] = made
        return 201, {"object": _render(made)}

    def _property(self, method: str, data: dict[str, Any]) -> Answer:
        if method == "GET":
            listed = [{"key": key, "format": format} for key, format in self.properties.items()]
            return 200, {"data": listed, "pagination": {}}
        self.properties[data["key"]] = data["format"]
        return 201, {"property": {"key": data["key"]}}

    def _set(self, made: dict[str, Any], data: dict[str, Any], markdown: str | None) -> None:
        made["name"], made["markdown"] = data.get("name"), markdown
        made["versions"] += 1
        for one in data.get("properties", ()):
            (kind,) = set(one) - {"key"}
            if self.properties[one["key"]] != kind:
                self.fault(f"{one['key']} is {self.properties[one['key']]}, not {kind}")
        made["values"] = {one["key"]: next(v for k, v in one.items() if k != "key") for one in data["properties"]}
        made["texts"] = {one["key"]: one["text"] for one in data["properties"] if "text" in one}


def _render(made: dict[str, Any]) -> dict[str, Any]:
    texts = [{"object": "property", "key": key, "format": "text", "text": text} for key, text in made["texts"].items()]
    return {"id": made["id"], "object": "object", "name": made["name"], "properties": texts}
