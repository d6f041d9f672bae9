"""Messages as items: the address under which they are kept, their file, and what their sender cannot do."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from pagekeep.capture.from_url import Retrieval
from pagekeep.capture.uploads import page_in_file, sent_page
from pagekeep.config import Settings
from pagekeep.errors import InvalidProtocol
from pagekeep.library.items.find import get_item, related_items
from pagekeep.library.queue import SaveRequest, enqueue
from pagekeep.library.saving.mail_messages import MAX_ATTACHMENTS, FindAttachments
from pagekeep.library.saving.reparse import reparse_one
from pagekeep.library.saving.save import Request, save
from pagekeep.model import Item
from pagekeep.present import json_shapes
from pagekeep.store import Store
from pagekeep.workers import Room
from tests.capture.documents.tiny_pdf import TinyPage, make_pdf

MAILS = Path(__file__).parent / "mails"


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    """One worker for all tests here."""
    room = Room(1)
    yield room
    room.close()


def save_mail(data: bytes, library: Store, settings: Settings, room: Room) -> Item:
    async def go() -> Item:
        async with Retrieval(settings, room=room) as retrieval:
            uploaded = await page_in_file(data, "letter.eml", retrieval)
            return (await save(SaveRequest(Request(uploaded.url), uploaded=uploaded), library, retrieval)).item

    return asyncio.run(go())


def test_a_message_is_kept_under_its_id_with_its_file(library: Store, settings: Settings, room: Room) -> None:
    data = (MAILS / "plain-text.eml").read_bytes()
    item = save_mail(data, library, settings, room)
    raw = library.items.raw(item.id)
    assert (item.url, item.author, item.domain) == (
        "mid:plain-text.20260303@mailer.example",
        "Tove Arn",
        "mailer.example",
    )
    assert raw is not None
    assert (raw.body, raw.content_type) == (data, "message/rfc822")
    assert get_item(library, item.url).id == item.id
    assert save_mail(data, library, settings, room).id == item.id


def test_a_message_is_reparsed_from_its_file(library: Store, settings: Settings, room: Room) -> None:
    item = save_mail((MAILS / "campaign.eml").read_bytes(), library, settings, room)

    async def go() -> str:
        async with Retrieval(settings, room=room) as retrieval:
            return (await reparse_one(item.id, library, retrieval, force=True)).outcome

    assert asyncio.run(go()) == "unchanged"


def test_a_message_never_takes_the_place_of_a_saved_page(library: Store, settings: Settings, room: Room) -> None:
    url = "https://slowwater.post.example/p/the-tide-clock"

    async def go() -> Item:
        async with Retrieval(settings, room=room) as retrieval:
            html = f"<title>The page</title><article>{'<p>Words of the page itself, many of them.</p>' * 30}</article>"
            return (await save(SaveRequest(Request(url), uploaded=sent_page(url, html)), library, retrieval)).item

    page = asyncio.run(go())
    item = save_mail((MAILS / "post-platform.eml").read_bytes(), library, settings, room)
    assert (item.url, item.id != page.id) == ("mid:post-platform.20260303@mailer.example", True)
    assert library.items.get(page.id).content == page.content
    assert save_mail((MAILS / "post-platform.eml").read_bytes(), library, settings, room).id == item.id


def test_the_address_of_a_message_is_never_fetched(library: Store, settings: Settings, room: Room) -> None:
    async def go() -> None:
        async with Retrieval(settings, room=room) as retrieval:
            await save(SaveRequest(Request("mid:1@a.example")), library, retrieval)

    with pytest.raises(InvalidProtocol):
        asyncio.run(go())
    with pytest.raises(InvalidProtocol):
        enqueue(SaveRequest(Request("mid:1@a.example")), library)
    assert library.items.by_url("mid:1@a.example") is None


def test_an_encrypted_message_is_a_bookmark_that_says_so(library: Store, settings: Settings, room: Room) -> None:
    item = save_mail((MAILS / "encrypted-smime.eml").read_bytes(), library, settings, room)
    assert (item.metadata.quality, item.metadata.caught) == ("bookmark", "encrypted_file")
    assert "S/MIME" in (item.metadata.reason or "")


def with_attachment(data: bytes, name: str, content: bytes) -> bytes:
    """Return a message of plain text with a file."""
    packed = base64.encodebytes(content).decode()
    return (
        f"From: Ann <ann@a.example>\nSubject: The plans\nMessage-ID: <plans@a.example>\nMIME-Version: 1.0\n"
        f"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n{data.decode()}\n"
        f'--b\nContent-Type: application/octet-stream; name="{name}"\nContent-Transfer-Encoding: base64\n'
        f'Content-Disposition: attachment; filename="{name}"\n\n{packed}\n--b--\n'
    ).encode()


def test_attachments_that_can_be_read_are_items_linked_to_the_message(
    library: Store, settings: Settings, room: Room
) -> None:
    pdf = make_pdf(
        [TinyPage().write("The old harbour", 60, 80, 20).paragraph(["It is older than the walls."], 60, 110)]
    )
    data = with_attachment(b"The plans are attached, as you asked.", "plans.pdf", pdf)
    for _ in range(2):
        item = save_mail(data, library, settings, room)
    (attached,) = related_items(library, library.items.get(item.id))
    assert (attached.url, attached.title) == ("mid:plans@a.example/2/plans.pdf", "The old harbour")
    assert (attached.metadata.part_of, related_items(library, attached)[0].id) == (item.id, item.id)
    shape = json_shapes.to_json(json_shapes.Item, library.items.get(item.id))
    assert (shape["attachments"], shape["part_of"]) == ([attached.id], None)


def test_other_attachments_are_left_alone_and_their_number_is_bounded() -> None:
    script = with_attachment(b"Run this.", "run.exe", b"MZ" + bytes(500))
    assert FindAttachments(script, 1_000_000).run() == ()
    part = '--b\nContent-Type: text/csv; name="a.csv"\nContent-Disposition: attachment\n\na,b\n1,2\n'
    many = f"From: a@a.example\nSubject: x\nContent-Type: multipart/mixed; boundary=b\n\n{part * 50}--b--\n".encode()
    assert len(FindAttachments(many, 1_000_000).run()) == MAX_ATTACHMENTS
    assert FindAttachments(many, 3).run() == ()
