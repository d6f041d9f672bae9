"""A3: requests of all kinds, made from the server's own description, right and wrong ones; none may end in a fault of ours.

    python -m tests.hostile.server_fuzz 200      # this many examples per operation

Answers are held against the description too. Nothing is fetched: the server may reach no host.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from tests.hostile.server import served

ARTICLE: Final = "<title>The keeper</title><article><h1>The keeper</h1>" + "<p>He counts the ships at dawn.</p>" * 40
EXPECTED: Final = frozenset({501, 502, 503, 504})
"""Statuses above 500 that say something about what was asked for."""
HELD_TO: Final = [status_code_conformance, response_schema_conformance]


def fuzz(folder: Path, examples: int) -> int:
    """How many operations were tried; an assertion fails for the first fault."""
    with served(folder / "library.db", timeout="1", retries="0", render="never") as server:
        known = _something_there(server.address)
        schema = schemathesis.openapi.from_url(f"{server.address}api/v1/openapi.json")
        operations = [found.ok() for found in schema.get_all_operations()]
        for operation in operations:
            _try(operation, server.address, known, examples)
    return len(operations)


def _something_there(address: str) -> dict[str, str]:
    """Ids of things that are there, so that not every request ends at the first look-up."""
    api = f"{address}api/v1/"
    item = requests.post(f"{api}saves", json={"url": "https://example.com/a", "html": ARTICLE}, timeout=30).json()
    item_id = item["item"]["id"]
    job = requests.post(f"{api}saves?wait=false", json={"url": "http://127.0.0.1:9/"}, timeout=30).json()
    mark = requests.post(f"{api}items/{item_id}/annotations", json={"note": "x"}, timeout=30).json()
    return {"item_id": item_id, "job_id": job["job"]["id"], "annotation_id": mark["annotation"]["id"]}


def _try(operation: Any, address: str, known: dict[str, str], examples: int) -> None:
    modes = [operation.as_strategy(generation_mode=mode) for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)]

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(modes[0] | modes[1])
    def run(case: Any) -> None:
        for name, value in known.items():
            if name in (case.path_parameters or {}) and len(str(case.path_parameters[name])) % 2:
                case.path_parameters[name] = value
        response = case.call(base_url=address.rstrip("/"), timeout=60)
        reported = f"{case.as_curl_command()}\n{response.status_code} {response.text[:500]}"
        assert response.status_code < 500 or response.status_code in EXPECTED, reported
        if response.status_code not in EXPECTED:
            case.validate_response(response, checks=HELD_TO)

    run()


def main() -> None:
    examples = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as folder:
        print(f"{fuzz(Path(folder), examples)} operations, {examples} examples each: no fault of the server.")


if __name__ == "__main__":
    main()
