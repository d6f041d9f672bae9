"""The extension's packages: what they may do, and that they are whole."""

from __future__ import annotations

import posixpath
import re
import zipfile
from pathlib import Path

import pytest

from scripts.draw_icons import FOLDER, SIZES, png
from scripts.package_extension import SOURCE, files, make, manifest

BROWSERS = ("chromium", "firefox")


@pytest.mark.parametrize("browser", BROWSERS)
def test_it_asks_for_no_page_beyond_the_one_in_front(browser: str) -> None:
    made = manifest(browser)
    more = ("notifications", "scripting", "storage", "unlimitedStorage")
    assert made["permissions"] == ["activeTab", "alarms", "contextMenus", *more]
    assert made["optional_permissions"] == ["tabs"]
    # No page runs scripts of ours unasked, sees files of ours, or speaks to us.
    for key in ("host_permissions", "content_scripts", "web_accessible_resources", "externally_connectable"):
        assert key not in made
    assert "default-src 'none'; script-src 'self'" in made["content_security_policy"]["extension_pages"]


def test_each_browser_gets_the_worker_it_knows() -> None:
    assert manifest("chromium")["background"] == {"service_worker": "background.js", "type": "module"}
    assert "browser_specific_settings" not in manifest("chromium")
    assert manifest("firefox")["background"] == {"scripts": ["background.js"], "type": "module"}
    assert "minimum_chrome_version" not in manifest("firefox")
    assert manifest("firefox")["browser_specific_settings"]["gecko"]["id"]


@pytest.mark.parametrize("browser", BROWSERS)
def test_every_file_that_is_named_is_in_the_package(browser: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(make(browser, tmp_path)) as package:
        inside = set(package.namelist())
        named = set(re.findall(r'"([\w/]+\.(?:png|html|js))"', package.read("manifest.json").decode()))
        for name in (name for name in inside if name.endswith((".js", ".html"))):
            text = package.read(name).decode()
            for found in re.findall(r'(?:from|src=|href=)\s*"(\.{0,2}[\w/.-]+\.(?:js|css))"', text):
                named.add(posixpath.normpath(posixpath.join(posixpath.dirname(name), found)))
            named |= set(re.findall(r'"(page/\w+\.js)"', text))
    assert {"background.js", "page/flatten.js", "popup/popup.js", "style.css", "icons/128.png"} <= named
    assert named <= inside
    assert "firefox.json" not in inside


def test_the_same_files_make_the_same_package(tmp_path: Path) -> None:
    once, again = (make("firefox", tmp_path / name).read_bytes() for name in ("a", "b"))
    assert once == again


def test_nothing_comes_from_elsewhere() -> None:
    """No address but the usual one of the server on this machine."""
    for name in files():
        if name.suffix in (".js", ".html", ".css"):
            found = re.findall(r"https?://\w[^\s\"`]*", (SOURCE / name).read_text("utf-8"))
            assert {address for address in found if not address.startswith("http://127.0.0.1")} == set(), name


def test_the_icons_are_those_that_are_drawn() -> None:
    assert (FOLDER / f"{SIZES[0]}.png").read_bytes() == png(SIZES[0])
