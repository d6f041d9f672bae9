"""Version and licences."""

from __future__ import annotations

from fastapi.testclient import TestClient

from pagekeep.version import __version__


def test_the_version_and_the_licences_of_libraries_are_shown(client: TestClient) -> None:
    page = client.get("/settings/about").text
    assert f"<strong>{__version__}</strong>" in page
    assert "jinja2" in page.lower()
    assert "BSD" in page
    assert "hypothesis" not in page  # only tests need it
