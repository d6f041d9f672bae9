"""Routes of lists, save rules, suggested tags and changes of many items; a part of the table in `routes.py`."""

from __future__ import annotations

from typing import Final

from tests.doors.http.row import Route, changes, looks

API: Final = "/api/v1"
LIST: Final = f"{API}/lists/{{list}}"
RULE: Final = f"{API}/save-rules/{{save_rule}}"
ACTIONS: Final = {"tags": ["x"]}

LISTS: Final[dict[str, Route]] = {
    "GET /api/v1/lists": looks(f"{API}/lists"),
    "POST /api/v1/lists": changes(f"{API}/lists", json={"name": "New"}, other=201, ada=201),
    "GET /api/v1/lists/{list_id}": looks(LIST, other=404),
    "PATCH /api/v1/lists/{list_id}": changes(LIST, json={"name": "Other"}, other=404),
    "GET /api/v1/lists/{list_id}/items": looks(f"{LIST}/items", other=404),
    "POST /api/v1/lists/{list_id}/items": changes(f"{LIST}/items", json={"ids": ["{item}"]}, other=404),
    "PUT /api/v1/lists/{list_id}/items/{item_id}": changes(
        f"{LIST}/items/{{item}}", json={"before": None}, other=404, ada=204
    ),
    "DELETE /api/v1/lists/{list_id}/items/{item_id}": changes(f"{LIST}/items/{{item}}", other=404),
    "DELETE /api/v1/lists/{list_id}": changes(LIST, other=404, ada=204),
    "GET /api/v1/save-rules": looks(f"{API}/save-rules"),
    "POST /api/v1/save-rules": changes(
        f"{API}/save-rules", json={"query": "nothing", "actions": ACTIONS}, other=201, ada=201
    ),
    "POST /api/v1/save-rules/try": looks(f"{API}/save-rules/try", json={"query": "quincewort", "actions": ACTIONS}),
    "PATCH /api/v1/save-rules/{rule_id}": changes(RULE, json={"name": "Other"}, other=404),
    "POST /api/v1/save-rules/{rule_id}/apply": changes(f"{RULE}/apply", other=404),
    "DELETE /api/v1/save-rules/{rule_id}": changes(RULE, other=404, ada=204),
    "POST /api/v1/bulk": changes(f"{API}/bulk", json={"ids": ["{item}"], "pinned": True}, other=404),
    "GET /api/v1/actions": looks(f"{API}/actions"),
    "POST /api/v1/actions/{action_id}/undo": changes(f"{API}/actions/{{action}}/undo", other=404),
    "GET /api/v1/suggested-tags": looks(f"{API}/suggested-tags"),
    "GET /lists": looks("/lists"),
    "POST /items/{key}/lists": changes("/items/{item}/lists", form={"add": "{other_list}"}, other=404, ada=303),
    "POST /lists": changes("/lists", form={"name": "New too"}, other=303, ada=303),
    "GET /lists/{list_id}": looks("/lists/{other_list}", other=404),
    "POST /lists/{list_id}/items": changes(
        "/lists/{other_list}/items", form={"item": "{item}", "action": "bottom"}, other=404, ada=303
    ),
    "POST /lists/{list_id}": changes("/lists/{other_list}", form={"action": "delete"}, other=404, ada=303),
    "GET /save-rules": looks("/save-rules"),
    "POST /save-rules": changes("/save-rules", form={"query": "nothing", "tags": "x"}, other=303, ada=303),
    "POST /save-rules/{rule_id}": changes("/save-rules/{other_save_rule}", form={"action": "off"}, other=404, ada=303),
    "GET /suggested-tags": looks("/suggested-tags"),
    "POST /suggested-tags": changes(
        "/suggested-tags", form={"action": "accept", "picked": "{item}:x"}, other=303, ada=303
    ),
    "POST /bulk": changes("/bulk", form={"bulk": "tag", "ids": "{item}", "tags": "x"}, other=404, ada=303),
    "GET /actions": looks("/actions"),
    "POST /actions/{action_id}/undo": changes("/actions/{action}/undo", form={"x": "y"}, other=404, ada=303),
    "GET /items/{key}/edit": looks("/items/{item}/edit", other=404),
    "POST /items/{key}/edit": changes("/items/{item}/edit", form={"title": "Mine"}, other=404, ada=303),
}
