"""Rules over HTTP."""

from __future__ import annotations

from pathlib import Path

from fastapi.testclient import TestClient

GOOD = "- id: mine\n  phase: pre\n  trigger: {host: {equals: example.com}}\n  remove: [.promo]\n"


def test_the_rules_in_force_are_listed_with_what_is_wrong_with_others(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "own.yaml").write_text(GOOD + "- id: bad\n  triger: {}\n")
    told = client.get("/api/v1/rules").json()
    assert {rule["id"] for rule in told["rules"]} > {"mine"}
    assert told["faults"][0]["file"] == "own.yaml"
    assert [rule["id"] for rule in client.get("/api/v1/rules?own=true").json()["rules"]] == ["mine"]


def test_rules_are_checked_without_being_kept(client: TestClient) -> None:
    good = client.post("/api/v1/rules/check", json={"yaml": GOOD}).json()
    assert (good["good"], good["faults"], good["rules"][0]["remove"]) == (True, [], ".promo")
    bad = client.post("/api/v1/rules/check", json={"yaml": "- id: x\n  remove: ['p[']\n"}).json()
    assert bad["good"] is False
    assert {fault["path"] for fault in bad["faults"]} >= {"[0].remove[0]"}
    assert client.get("/api/v1/rules?own=true").json()["rules"] == []


def test_the_schema_is_there_for_editors(client: TestClient) -> None:
    assert client.get("/api/v1/rules/schema").json()["title"] == "Pagekeep rules"
