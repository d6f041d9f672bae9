"""Check feeds against the schemas of their formats."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

HERE = Path(__file__).parent


@cache
def _atom_schema() -> Any:
    from lxml import etree

    return etree.RelaxNG(etree.parse(str(HERE / "atom.rng")))


def check_atom(body: bytes) -> None:
    """Fail unless the document is Atom."""
    from lxml import etree

    document = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))
    schema = _atom_schema()
    assert schema.validate(document), schema.error_log


def check_json_feed(body: bytes) -> Any:
    """Return the document; fail unless it is a JSON Feed."""
    document = json.loads(body)
    jsonschema.validate(document, json.loads((HERE / "json_feed.schema.json").read_text("utf-8")))
    return document
