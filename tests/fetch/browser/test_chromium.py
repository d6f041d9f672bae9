"""Finding Chromium, with programs that we made in our own folders, and what `doctor` says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pagekeep import extras
from pagekeep.config import Settings
from pagekeep.doors.cli import doctor
from pagekeep.errors import RenderError
from pagekeep.fetch.browser import chromium


def program(path: Path, content: bytes = b"\x7fELF") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with no Chromium, whose PATH is the folder given back."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "downloads"))
    monkeypatch.setattr(chromium, "_FOLDERS", tuple(str(tmp_path / f"lib{number}") for number in range(5)))
    return folder


def test_without_chromium_the_error_says_how_to_get_one(bare: Path) -> None:
    with pytest.raises(RenderError) as caught:
        chromium.find_chromium()
    assert any("apt-get install" in hint for hint in caught.value.suggestions)
    assert any("playwright install" in hint for hint in caught.value.suggestions)


def test_the_headless_shell_is_preferred(bare: Path) -> None:
    program(bare / "chromium")
    shell = program(bare / "chromium-headless-shell")
    assert chromium.find_chromium() == chromium.Chromium(shell, is_shell=True)


def test_the_whole_browser_will_do(bare: Path) -> None:
    browser = program(bare / "google-chrome")
    assert chromium.find_chromium() == chromium.Chromium(browser, is_shell=False)


@pytest.mark.parametrize(
    "script",
    [
        '#!/bin/sh -e\n\n{lib}/chromium "$@"\n',
        '#!/bin/sh\nLIBDIR={lib}\nAPPNAME=chromium\nexec $LIBDIR/$APPNAME $FLAGS "$@"\n',
        '#!/bin/bash\nexport LIBDIR="{lib}"\nexec "${{LIBDIR}}/chromium" "$@"\n',
    ],
)
def test_the_binary_behind_a_wrapper_is_taken(bare: Path, tmp_path: Path, script: str) -> None:
    binary = program(tmp_path / "elsewhere" / "chromium")
    program(bare / "chromium", script.format(lib=binary.parent).encode())
    assert chromium.find_chromium().path == binary


def test_a_wrapper_beside_its_binary_is_seen_through(bare: Path, tmp_path: Path) -> None:
    binary = program(tmp_path / "opt" / "chrome")
    wrapper = program(tmp_path / "opt" / "google-chrome", b'#!/bin/bash\nexec -a "$0" "$HERE/chrome" "$@"\n')
    (bare / "google-chrome").symlink_to(wrapper)
    assert chromium.find_chromium().path == binary


def test_a_wrapper_that_cannot_be_seen_through_is_used_itself(bare: Path) -> None:
    wrapper = program(bare / "chromium", b'#!/bin/sh\nexec "$(locate chromium)" "$@"\n')
    assert chromium.find_chromium().path == wrapper


def test_a_snap_is_passed_over(bare: Path) -> None:
    program(bare / "chromium-browser", b'#!/bin/sh\nexec /snap/bin/chromium "$@"\n')
    with pytest.raises(RenderError):
        chromium.find_chromium()


def test_a_download_of_playwright_is_the_last_resort_and_the_newest_wins(bare: Path, tmp_path: Path) -> None:
    downloads = tmp_path / "downloads"
    program(downloads / "chromium_headless_shell-999" / "chrome-linux" / "headless_shell")
    newest = program(downloads / "chromium_headless_shell-1187" / "chrome-linux" / "headless_shell")
    assert chromium.find_chromium() == chromium.Chromium(newest, is_shell=True)
    installed = program(bare / "chromium")
    assert chromium.find_chromium().path == installed


def test_the_one_the_owner_chose_wins(bare: Path, tmp_path: Path) -> None:
    program(bare / "chromium-headless-shell")
    chosen = program(tmp_path / "mine" / "browser")
    assert chromium.find_chromium(str(chosen)).path == chosen


@pytest.mark.parametrize("chosen", ["/does/not/exist", "no-such-program"])
def test_a_choice_that_cannot_be_started_is_an_error_and_not_passed_over(bare: Path, chosen: str) -> None:
    program(bare / "chromium")
    with pytest.raises(RenderError, match="setting `chromium`"):
        chromium.find_chromium(chosen)


def finding(name: str, settings: Settings | None = None) -> doctor.Finding:
    return next(found for found in doctor.run(settings or Settings()) if found.name == name)


def test_doctor_names_a_missing_chromium_and_how_to_get_it(bare: Path) -> None:
    found = finding("chromium")
    assert (found.state, found.hints) == ("missing", chromium.install_hints())
    shown = doctor.render(doctor.run(Settings()))
    assert "apt-get install" in shown
    assert doctor.to_json(doctor.run(Settings()))["complete"] is False


def test_doctor_shows_version_and_place(bare: Path) -> None:
    binary = program(bare / "chromium", b"#!/bin/sh\necho Chromium 151.0.7000.1 built on a shelf\n")
    found = finding("chromium")
    assert found.state == "ok"
    assert "151.0.7000.1" in found.detail
    assert str(binary) in found.detail


@pytest.mark.parametrize("script", [b"#!/bin/sh\nexit 127\n", b"#!/bin/sh\necho nothing\n", b"\x00\x01"])
def test_doctor_reports_a_chromium_that_does_not_start(bare: Path, script: bytes) -> None:
    program(bare / "chromium", script)
    found = finding("chromium")
    assert found.state == "missing"
    assert "does not start" in found.detail


def test_doctor_names_a_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise doctor.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor.metadata, "version", absent)
    assert finding("playwright").hints == (extras.install_command("browser"),)
    assert finding("h2").state == "missing"
