"""The routes of Anytype's API that we use, version 2025-11-08, as JSON Schemas that we wrote.

They follow the published OpenAPI document (docs/reference/openapi-2025-11-08.yaml of anyproto/anytype-api), whose own schemas
cannot check a request: no property of theirs is required, unknown ones are allowed, and the alternatives of `oneOf` for the
value of a property all match. Here unknown properties are refused, and the value of a property has its one form.
"""

from __future__ import annotations

from typing import Any

TEXT = {"type": "string"}
FORMATS = {
    "text": TEXT,
    "number": {"type": "number"},
    "select": TEXT,
    "multi_select": {"type": "array", "items": TEXT},
    "date": TEXT,
    "files": {"type": "array", "items": TEXT},
    "checkbox": {"type": "boolean"},
    "url": {"type": "string", "minLength": 1},
    "email": TEXT,
    "phone": TEXT,
    "objects": {"type": "array", "items": TEXT},
}
CONDITIONS = ["eq", "ne", "gt", "gte", "lt", "lte", "contains", "ncontains", "in", "nin", "all", "empty", "nempty"]


def closed(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


PROPERTY_VALUE = {"oneOf": [closed(("key", name), key=TEXT, **{name: kind}) for name, kind in FORMATS.items()]}
CONDITION = {
    "oneOf": [
        closed(("property_key", "condition", name), property_key=TEXT, condition={"enum": CONDITIONS}, **{name: kind})
        for name, kind in FORMATS.items()
    ]
}
OBJECT = {
    "name": TEXT,
    "icon": {"type": "object"},
    "properties": {"type": "array", "items": PROPERTY_VALUE},
    "type_key": {"type": "string", "minLength": 1},
}

REQUESTS: dict[tuple[str, str], dict[str, Any] | None] = {
    ("POST", "/v1/auth/challenges"): closed(("app_name",), app_name={"type": "string", "minLength": 1}),
    ("POST", "/v1/auth/api_keys"): closed(
        ("challenge_id", "code"), challenge_id=TEXT, code={"type": "string", "pattern": "^[0-9]{4}$"}
    ),
    ("GET", "/v1/spaces"): None,
    ("GET", "/v1/spaces/{space_id}/properties"): None,
    ("POST", "/v1/spaces/{space_id}/properties"): closed(
        ("name", "format"), name=TEXT, key={"type": "string", "pattern": "^[a-z0-9_]+$"}, format={"enum": list(FORMATS)}
    ),
    ("POST", "/v1/spaces/{space_id}/search"): closed(
        query=TEXT,
        types={"type": "array", "items": TEXT},
        filters=closed(operator={"enum": ["and", "or"]}, conditions={"type": "array", "items": CONDITION}),
    ),
    ("POST", "/v1/spaces/{space_id}/objects"): closed(("type_key",), body=TEXT, template_id=TEXT, **OBJECT),
    ("PATCH", "/v1/spaces/{space_id}/objects/{object_id}"): closed((), markdown=TEXT, **OBJECT),
}
"""Method and path to the schema of the body; `None` where there is none."""
QUERY = {"offset", "limit"}
WITHOUT_KEY = ("/v1/auth/challenges", "/v1/auth/api_keys")
VERSION = "2025-11-08"
