"""Rules over HTTP."""

from __future__ import annotations

from pathlib import Path

from fastapi.testclient import TestClient

from tests.site.fixtures import article

GOOD = "- id: mine\n  phase: pre\n  trigger: {host: {equals: example.com}}\n  remove: [.boats]\n"


def test_the_rules_in_force_are_listed_with_what_is_wrong_with_others(client: TestClient, tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "own.yaml").write_text(GOOD + "- id: bad\n  triger: {}\n")
    reported = client.get("/api/v1/rules").json()
    assert {rule["id"] for rule in reported["rules"]} > {"mine"}
    assert reported["faults"][0]["file"] == "own.yaml"
    assert [rule["id"] for rule in client.get("/api/v1/rules?own=true").json()["rules"]] == ["mine"]


def test_rules_are_checked_without_being_kept(client: TestClient) -> None:
    good = client.post("/api/v1/rules/check", json={"yaml": GOOD}).json()
    assert (good["good"], good["faults"], good["rules"][0]["remove"]) == (True, [], ".boats")
    bad = client.post("/api/v1/rules/check", json={"yaml": "- id: x\n  remove: ['p[']\n"}).json()
    assert bad["good"] is False
    assert {fault["path"] for fault in bad["faults"]} >= {"[0].remove[0]"}
    assert client.get("/api/v1/rules?own=true").json()["rules"] == []


def test_the_schema_is_there_for_editors(client: TestClient) -> None:
    assert client.get("/api/v1/rules/schema").json()["title"] == "Pagekeep rules"


def test_rules_are_tried_on_a_page_beside_those_in_force(client: TestClient) -> None:
    page = article(300, extra='<div class="boats"><p>Buy our boats before the winter comes.</p></div>')
    item = client.post("/api/v1/saves", json={"url": "https://example.com/a", "html": page}).json()["item"]
    for source in (item["id"], item["url"]):
        reported = client.post("/api/v1/rules/try", json={"yaml": GOOD, "page": source}).json()
        assert "Buy our boats" in reported["before"]["markdown"]
        assert "Buy our boats" not in reported["after"]["markdown"]
        assert any(line.startswith("-Buy our boats") for line in reported["diff"])
        assert [match["id"] for match in reported["matches"]] == ["mine"]
    faulty = client.post("/api/v1/rules/try", json={"yaml": "- id: x", "page": item["id"]}).json()
    assert faulty["faults"]
    assert faulty["diff"] == []
    assert client.post("/api/v1/rules/try", json={"yaml": GOOD, "page": "0000aaaa"}).status_code == 404
