"""Mailboxes as imports: every message once, under its address, and those that fail with the reason."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from pagekeep.library.imports.formats import mailboxes
from pagekeep.library.imports.input.row import Fault, Row
from pagekeep.library.imports.input.source import Folder, source_from_stream
from pagekeep.library.imports.reader import RowReader
from pagekeep.library.imports.run import ImportPlan, ImportReport, import_rows, import_stream
from pagekeep.model import ItemQuery
from pagekeep.rules import Rulebook
from pagekeep.store import Store

MAILS = Path(__file__).parents[2] / "capture/documents/email/mails"


def letter(number: int, *headers: str, text: str = "") -> bytes:
    head = [f"From: Ann <ann@a.example>\nSubject: Letter {number}\nMessage-ID: <{number}@a.example>", *headers]
    body = text or f"This is the text of letter {number}, and it has some words.\n"
    return ("\n".join([*head, f"Date: Tue, {number % 28 + 1:02} Mar 2026 08:00:00 +0000"]) + f"\n\n{body}").encode()


def mailbox(*messages: bytes) -> bytes:
    return b"\n".join(b"From ann@a.example Tue Mar  3 08:00:00 2026\n" + message for message in messages)


def rows_of(data: bytes) -> list[Any]:
    return list(mailboxes.read(source_from_stream(io.BytesIO(data), "mail.mbox")))


def titles(library: Store) -> list[str]:
    return sorted(item.title for item in library.search.find(ItemQuery(limit=200)).items)


def test_a_mailbox_is_imported_once_however_often(library: Store) -> None:
    data = mailbox(*(letter(number) for number in range(30)))
    for _ in range(2):
        report = import_stream(io.BytesIO(data), "mail.mbox", library, ImportPlan(Rulebook()))
    assert (report.unchanged, report.failed, report.formats) == (30, 0, {"mail": 30})
    assert len(titles(library)) == 30
    item = library.items.by_url("mid:3@a.example")
    assert item is not None
    raw = library.items.raw(item.id)
    assert raw is not None
    assert (raw.content_type, item.saved_at[:10], item.source) == ("message/rfc822", "2026-03-04", "import:mail")
    assert library.jobs.list() == ()


def test_lines_that_begin_with_from_stay_in_their_message() -> None:
    text = "We walked\n\nFrom the harbour to the hill.\n>From here on it rained.\n"
    (row,) = rows_of(mailbox(letter(1, text=text)))
    assert b"\nFrom the harbour to the hill.\nFrom here on" in row.page.body


def test_a_message_that_cannot_be_read_is_named_and_the_rest_follows() -> None:
    rows = rows_of(mailbox(letter(1), (MAILS / "encrypted-pgp.eml").read_bytes(), b"no headers\n", letter(2)))
    assert [type(row) for row in rows] == [Row, Fault, Fault, Row]
    assert "encrypted (OpenPGP)" in rows[1].reason
    assert str(rows[1].place).endswith("entry 2")


def test_a_message_that_is_too_large_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailboxes, "MAX_MESSAGE_BYTES", 2_000)
    rows = rows_of(mailbox(letter(1), letter(2, text="long words " * 1_000 + "\n"), letter(3)))
    assert [type(row) for row in rows] == [Row, Fault, Row]


def test_labels_become_tags_and_stars_pins() -> None:
    (row,) = rows_of(mailbox(letter(1, "X-Gmail-Labels: Inbox,Starred,Boats,=?utf-8?q?K=C3=BCste?=")))
    assert (row.tags, row.pinned) == (("Boats", "Küste"), True)


def test_a_maildir_is_read_by_a_worker_with_its_flags(library: Store, tmp_path: Path) -> None:
    for name in ("cur", "new", "tmp"):
        (tmp_path / "Letters" / name).mkdir(parents=True)
    (tmp_path / "Letters/cur/1.host:2,FS").write_bytes(letter(1))
    (tmp_path / "Letters/new/2.host").write_bytes(letter(2))
    (tmp_path / "Letters/tmp/3.host").write_bytes(letter(3))
    report = ImportReport()
    with RowReader() as reader:
        rows = reader.read(tmp_path / "Letters", "Letters", None)
        for _ in import_rows(rows, library, ImportPlan(Rulebook()), report):
            pass
    assert (report.added, report.failed) == (2, 0)
    pinned = library.items.by_url("mid:1@a.example")
    assert pinned is not None
    assert pinned.metadata.pinned
    assert mailboxes.matches_tree(Folder(tmp_path / "Letters").names())


def test_all_our_messages_are_imported_or_say_why() -> None:
    rows = [row for path in sorted(MAILS.glob("*.eml")) for row in rows_of(path.read_bytes())]
    faults = [row.reason for row in rows if isinstance(row, Fault)]
    assert (len(rows), len(faults)) == (25, 2)
    assert all("encrypted" in reason for reason in faults)
