"""Pages, another extension, a false server and other devices against our extension, in small counts; `make hostile` has the full ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.extended import full_chromium

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
pytest.importorskip("fastapi", reason="the server's packages are not installed")
if full_chromium() is None:
    pytest.skip("no full Chromium here; scripts/install-chromium full gets one", allow_module_level=True)

from tests.hostile import extension_messages, pairing_attacks


def test_the_extension_saves_only_what_its_user_asked_for_and_keeps_its_token(tmp_path: Path) -> None:
    place = extension_messages.run(tmp_path, full=False)
    assert place.faults == []
    assert place.attacks.total() > 150


def test_only_the_device_that_asked_is_connected_for_the_user_who_confirmed(tmp_path: Path) -> None:
    place = pairing_attacks.run(str(tmp_path / "library.db"), full=False)
    assert place.faults == []
    assert place.attacks.total() > 150


def test_pages_of_other_sites_confirm_nothing_on_the_server_of_one_user(tmp_path: Path) -> None:
    assert pairing_attacks.run_alone(str(tmp_path / "library.db"), full=False).faults == []
