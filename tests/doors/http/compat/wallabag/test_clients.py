"""wallabag-client, unmodified, as its users call it, on both engines."""

from __future__ import annotations

import re
import subprocess
import uuid
from contextlib import closing
from pathlib import Path

import pytest

from pagekeep import clock
from pagekeep.identity import accounts
from pagekeep.identity.grants import ACCESS_SECONDS
from pagekeep.library.items import annotations as library_annotations
from pagekeep.library.items.find import get_numbered
from pagekeep.store import open_store
from tests.doors.http.compat.conftest import Restartable
from tests.doors.http.conftest import PASSWORD
from tests.site.fixtures import Shore, article
from tests.store.making import make_item, moment


class Reader:
    """A user of a running server, and the client's configuration for them."""

    def __init__(self, running: Restartable, tools: Path, folder: Path) -> None:
        self.running = running
        self.name = f"ada-{uuid.uuid4().hex[:8]}"
        self.user = accounts.add_user(running.service.accounts, self.name, PASSWORD)
        self._tools, self.config = tools, folder / "wallabag.ini"
        script = (
            "import sys; from wallabag.config import Configs, Options as O, Sections as S; c = Configs(sys.argv[1]); "
            "c.set(S.API, O.SERVERURL, sys.argv[2]); c.set(S.API, O.USERNAME, sys.argv[3]); "
            "c.set(S.API, O.PASSWORD, sys.argv[4]); c.set(S.OAUTH2, O.CLIENT, '1_a'); c.set(S.OAUTH2, O.SECRET, 'b'); c.save()"
        )
        url = f"{running.url}/wallabag"
        subprocess.run(
            [tools / "python", "-c", script, self.config, url, self.name, PASSWORD], check=True, capture_output=True
        )

    def run(self, *arguments: str, fails: bool = False) -> str:
        """Call the client; return what it wrote."""
        command = [self._tools / "wallabag", "--no-spinner", "--config", self.config, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stdout if not fails else done.stdout + done.stderr


@pytest.fixture
def reader(running: Restartable, tools: Path, tmp_path: Path) -> Reader:
    return Reader(running, tools, tmp_path)


def test_wallabag_client_adds_reads_tags_archives_and_deletes(reader: Reader, shore: Shore, tmp_path: Path) -> None:
    shore.bodies["a"] = article(400, "The keeper")
    with closing(open_store(reader.running.service.settings.library, reader.user.id)) as store:
        for n in range(35):
            item = make_item(n, user_id=reader.user.id, title=f"Page {n}", content=f"Text {n}.", saved_at=moment(n))
            store.items.save(item, None)
    assert "suitable" in reader.run("config", "--check")
    reader.run("add", "--starred", "--tags", "ships", shore.url("a"))
    listed = reader.run("list", "--quantity", "100")
    assert (listed.count("Page "), listed.count("The keeper")) == (35, 1)
    assert "36" in reader.run("list", "--count", "--all")
    number = next(line.split()[0] for line in listed.splitlines() if "The keeper" in line)
    assert "counts the ships" in reader.run("show", "--raw", number)
    reader.run("tags", "-c", "add", "-e", number, "-t", "sea")
    assert "sea" in reader.run("tags", "-e", number)
    assert "The keeper" in reader.run("list", "--quantity", "9", "--tags", "sea,ships")
    reader.running.restart()
    annotate(reader, number)
    reader.run("update", "--read", number)
    assert "The keeper" not in reader.run("list", "--unread", "--quantity", "100")
    reader.run("export", "-f", "epub", "-o", str(tmp_path), number)
    assert [file.read_bytes()[:2] for file in tmp_path.glob("*.epub")] == [b"PK"]
    reader.run("delete", "--force", number)
    assert "35" in reader.run("list", "--count", "--all")
    assert reader.run("list", "--quantity", "100") == reader.run("list", "--quantity", "100")


def annotate(reader: Reader, number: str) -> None:
    """The client shows and deletes what was highlighted elsewhere."""
    assert "counts the ships" not in reader.run("anno", "-e", number)
    with closing(open_store(reader.running.service.settings.library, reader.user.id)) as store:
        made = library_annotations.annotate(store, get_numbered(store, int(number)).id, "counts the ships", note="Why?")
    listed = reader.run("anno", "-e", number)
    assert "counts the ships" in listed
    reader.run("anno", "-c", "remove", "-e", number, "-a", str(library_annotations.annotation_number(made)))
    assert "counts the ships" not in reader.run("anno", "-e", number)


def test_wallabag_client_signs_in_again_when_its_token_has_expired(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader.run("list", "--count", "--all")
    later = clock.add_seconds(clock.now(), 2 * ACCESS_SECONDS)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert "invalid_grant" in reader.run("list", "--count", "--all", fails=True), "it trusts its own clock"
    text = re.sub(r"(?m)^expires = .*$", "expires = 1", reader.config.read_text())
    reader.config.write_text(text)
    reader.run("list", "--count", "--all")


def test_wallabag_client_reports_a_wrong_password(reader: Reader) -> None:
    accounts.set_password(reader.running.service.accounts, reader.name, "another long password")
    assert "invalid_grant" in reader.run("list", fails=True)
