"""A server that several people share: signing in, the account, signing out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from pagekeep.config import Settings
from pagekeep.identity.accounts import add_user
from pagekeep.store import open_accounts
from tests.browser.conftest import SIZES
from tests.browser.serving import Server
from tests.browser.test_accessibility import violations

OLD, NEW = "nine stoves and a kettle", "ten kettles and no stove"


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Server]:
    settings = Settings(library=str(tmp_path / "library.db"), rules=str(tmp_path / "rules"), shared=True)
    with closing(open_accounts(settings.library)) as accounts:
        add_user(accounts, "ada", OLD)
    with Server(settings) as running:
        yield running


def signed_in(page: Any, password: str) -> None:
    page.goto("/settings/account")
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def test_a_password_is_changed_and_ends_what_is_open_elsewhere(chrome: Any, shared: Server) -> None:
    here, there = (
        chrome.new_context(base_url=shared.url, viewport=SIZES["phone"], bypass_csp=True, service_workers="block")
        for _ in range(2)
    )
    page, other = here.new_page(), there.new_page()
    page.goto("/sign-in")
    assert violations(page) == []
    for each in (page, other):
        signed_in(each, OLD)
    page.reload()
    expect(page.get_by_role("button", name="Sign out the session of just now")).to_have_count(1)
    page.get_by_text("Change password").first.click()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for label, value in (("Current password", OLD), ("New password", NEW), ("Confirm new password", NEW)):
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_role("main").get_by_role("status")).to_contain_text("Password changed.")
    other.reload()
    expect(other.get_by_role("heading", level=1)).to_have_text("Sign in")
    signed_in(other, OLD)
    expect(other.get_by_role("alert")).to_contain_text("Wrong user name or password.")
    signed_in(other, NEW)
    expect(other.get_by_text("signed in as")).to_be_visible()
    for context in (here, there):
        context.close()
