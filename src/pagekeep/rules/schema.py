"""The table of keys as JSON Schema (draft 2020-12), for editors."""

from __future__ import annotations

from pagekeep.rules import table
from pagekeep.rules.kinds import JsonSchema


def schema() -> JsonSchema:
    """The schema of a file of rules."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pagekeep rules",
        "description": "What is special about a site or platform, and what to do about it.",
        "type": ["array", "null"],
        "items": table.RULE.schema(),
    }
