"""E-mail as documents: our own newsletters with the Markdown that they must become, and the edges of every part."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from pagekeep.capture.documents.email import FindAddress, read, split_subject
from pagekeep.capture.documents.email.html_body import is_counter, unwrap
from pagekeep.capture.documents.email.message import (
    MAX_PARTS,
    Mailbox,
    decode_words,
    parse_date,
    parse_mailboxes,
    parse_message,
)
from pagekeep.capture.documents.email.plain_text import text_to_html
from pagekeep.capture.documents.file_types import detect
from pagekeep.capture.extract import ReadTask, as_fetched
from pagekeep.config import Settings
from pagekeep.markdown import write_document
from pagekeep.model import Options, Page

MAILS = sorted(Path(__file__).parent.joinpath("mails").glob("*.eml"))


def page_of(data: bytes) -> Page:
    return ReadTask.prepare(as_fetched(data, None, Options()), Options(), Settings()).run()


def mail(body: str, *headers: str, kind: str = "text/html") -> bytes:
    """Return a small message."""
    lines = ["From: Ann <ann@a.example>", "Subject: The harbour", "Message-ID: <1@a.example>", *headers]
    return "\n".join([*lines, f"Content-Type: {kind}; charset=utf-8", "", body]).encode()


def html_of(body: str, *headers: str) -> str:
    return page_of(mail(body, *headers)).markdown


@pytest.mark.parametrize("path", MAILS, ids=lambda path: path.stem)
def test_our_newsletters_become_this_markdown(path: Path) -> None:
    page = page_of(path.read_bytes())
    reason = f"caught: {page.caught.kind}: {page.caught.reason}\n" if page.caught else ""
    assert reason + write_document(page, saved_at="2026-03-04T00:00:00Z") == path.with_suffix(".md").read_text("utf-8")


@pytest.mark.parametrize(
    ("data", "is_mail"),
    [
        (mail("x"), True),
        (b"From ann@a.example Tue Mar  3 08:00:00 2026\n" + mail("x"), True),
        (b"Delivered-To: a@b\r\nReceived: by x\r\n\r\nhello", True),
        (b"Title: My notes\nDate: 2026-03-03\nAuthor: Ann\n\nText", False),
        (b"From: the harbour to the hill\n\nA walk.", False),
        (b"<p>From: a\nTo: b\nSubject: c</p>", False),
        (
            b"From: <Saved by Blink>\nSnapshot-Content-Location: https://a.example/\nSubject: x\nMIME-Version: 1.0\n\n",
            False,
        ),
    ],
)
def test_mail_is_recognised_by_its_headers(data: bytes, is_mail: bool) -> None:
    found = detect(data)
    assert (found is not None and found.name == "e-mail") == is_mail


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=?utf-8?q?Caf=C3=A9_au_lait?=", "Café au lait"),
        ("=?utf-8?b?5riv44Gu?= =?utf-8?b?5L6/44KK?=", "港の便り"),
        ("=?utf-8?b?5riv?=  and more", "港 and more"),
        ("=?utf-8?q?=E6=B8?= =?utf-8?q?=AF?=", "港"),
        ("=?x-none?q?abc?=", "abc"),
        ("=?utf-8?b?%%%?= x", "x"),
        ("=?punycode?q?abc-def?=", "abc-def"),
        ("no words", "no words"),
    ],
)
def test_encoded_words_are_decoded(value: str, text: str) -> None:
    assert decode_words(value) == text


@pytest.mark.parametrize(
    ("value", "boxes"),
    [
        ("Ann Lee <ann@a.example>", [Mailbox("Ann Lee", "ann@a.example")]),
        (
            '"Lee, Ann" <ann@a.example>, bo@b.example',
            [Mailbox("Lee, Ann", "ann@a.example"), Mailbox("", "bo@b.example")],
        ),
        ("=?utf-8?q?Zo=C3=AB?= <z@a.example>", [Mailbox("Zoë", "z@a.example")]),
        ("", []),
        ("<<<<", []),
    ],
)
def test_senders_are_taken_apart(value: str, boxes: list[Mailbox]) -> None:
    assert parse_mailboxes(value) == boxes


@pytest.mark.parametrize(
    ("value", "date"),
    [
        ("Tue, 03 Mar 2026 08:00:00 +0100", "2026-03-03T07:00:00Z"),
        ("3 Mar 2026 08:00 GMT", "2026-03-03T08:00:00Z"),
        ("Tue, 03 Mar 2026 08:00:00 +9900", None),
        ("tomorrow", None),
        ("", None),
    ],
)
def test_dates_are_in_utc(value: str, date: str | None) -> None:
    assert parse_date(value) == date


@pytest.mark.parametrize(
    ("subject", "is_list", "parts"),
    [
        ("Re: AW: [boats] Re: Nails", True, ("Nails", True, False)),
        ("[1/3] The harbour", False, ("[1/3] The harbour", False, False)),
        ("Fwd: Fw: WG: Letter", False, ("Letter", False, True)),
        ("Re:", False, ("Re:", False, False)),
        ("Regarding: the boat", False, ("Regarding: the boat", False, False)),
    ],
)
def test_marks_of_subjects_are_understood(subject: str, is_list: bool, parts: tuple[str, bool, bool]) -> None:
    assert split_subject(subject, is_list=is_list) == parts


def encode(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("https://x.awstrack.example/L0/https:%2F%2Fa.example%2Fp%3Fa=1/1/01/xyz", "https://a.example/p?a=1"),
        ("https://eur02.safelinks.example/?url=https%3A%2F%2Fa.example%2Fa&data=05", "https://a.example/a"),
        ("https://www.google.com/url?q=https://a.example/b&sa=D", "https://a.example/b"),
        ("https://urldefense.proofpoint.com/v2/url?u=https-3A__a.example_p-3Fx-3D1&d=D", "https://a.example/p?x=1"),
        ("https://urldefense.com/v3/__https://a.example/p__;!!abc$", "https://a.example/p"),
        (f"https://post.example/redirect/2/{encode(json.dumps({'e': 'https://a.example/x'}))}", "https://a.example/x"),
        (f"https://click.mail.example/ab/cd/{encode('https://a.example/kit')}", "https://a.example/kit"),
        ("https://www.facebook.com/sharer/sharer.php?u=https://a.example", None),
        ("https://web.archive.org/web/2020/https://a.example/", None),
        ("https://a.example/login?next=https://b.example/a", None),
        ("https://list.example/track/click?u=abc&id=1", None),
        ("https://t.example/c?url=javascript:alert(1)", None),
        ("mailto:a@a.example", None),
        ("https://[broken", None),
    ],
)
def test_links_through_counters_lead_to_their_targets(link: str, target: str | None) -> None:
    assert unwrap(link) == (target or link)


def test_a_link_through_a_counter_is_not_the_address_of_a_message() -> None:
    assert is_counter("https://list.example/track/click?u=1")
    data = mail('<p><a href="https://list.example/track/click?u=1">View in browser</a></p><p>Some words here.</p>')
    assert FindAddress(data).run() == "mid:1@a.example"


@pytest.mark.parametrize(
    ("headers", "address"),
    [
        (["Archived-At: <https://lists.example/1.html>"], "https://lists.example/1.html"),
        (["List-Post: <https://a.example/p/x>"], "https://a.example/p/x"),
        (["List-Post: <mailto:list@lists.example>"], "mid:1@a.example"),
        (["Archived-At: <https://lists.example/>"], "mid:1@a.example"),
        (["Archived-At: <javascript:alert(1)>"], "mid:1@a.example"),
    ],
)
def test_the_address_is_on_the_web_if_the_message_names_one(headers: list[str], address: str) -> None:
    assert FindAddress(mail("<p>words</p>", *headers)).run() == address
    assert FindAddress(mail("<p>words</p>", *headers), on_web=False).run() == "mid:1@a.example"


def test_pixels_hidden_text_and_scripts_leave_nothing() -> None:
    markdown = html_of(
        '<div style="display:none">secret</div><script>alert(1)</script><p onclick="x()">Shown words.</p>'
        '<img src="https://t.example/o.gif" width="1" height="1"><img src="https://t.example/wf/open?u=1" alt="">'
    )
    assert markdown == "Shown words.\n"


def test_a_footer_is_found_by_the_header_in_any_language() -> None:
    body = '<p>Lorem ipsum dolor sit amet, word word word.</p><p><a href="https://a.example/u">xyzzy</a></p>'
    assert "xyzzy" not in html_of(body, "List-Unsubscribe: <https://a.example/u>")
    assert "xyzzy" in html_of(body)


def test_a_text_about_unsubscribing_stays() -> None:
    text = "How to unsubscribe from everything is a question that many readers ask, and the answer is long. " * 8
    assert text.strip() in html_of(f'<p>{text}</p><p>More <a href="https://a.example/x">words</a> at the end here.</p>')


def test_a_message_that_is_only_an_unsubscribe_line_is_not_emptied() -> None:
    assert "unsubscribe" in html_of('<p>To unsubscribe, <a href="https://a.example/u">click</a>.</p>')


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a\n\nb", "<p>a</p><p>b</p>"),
        ("> one\n>> two\nthree", "<blockquote><p>one</p><blockquote><p>two</p></blockquote></blockquote><p>three</p>"),
        (
            "see (https://a.example/x_(y)).",
            '<p>see (<a href="https://a.example/x_(y)">https://a.example/x_(y)</a>).</p>',
        ),
        ("<b>&", "<p>&lt;b&gt;&amp;</p>"),
        ("text\n\n-- \nAnn", "<p>text</p>"),
        (">From here on", "<p>From here on</p>"),
        ("* a\n* b", "<ul><li>a</li><li>b</li></ul>"),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("Head\n====\ntext", "<h2>Head</h2><p>text</p>"),
        ("", ""),
    ],
)
def test_plain_text_becomes_html(text: str, html: str) -> None:
    assert text_to_html(text) == html


def test_flowed_lines_are_joined_and_their_spaces_dropped_if_said() -> None:
    assert text_to_html("one \ntwo\nthree", is_flowed=True) == "<p>one two<br>three</p>"
    assert text_to_html("one \ntwo", is_flowed=True, drops_space=True) == "<p>onetwo</p>"


def test_the_html_is_preferred_unless_it_has_no_text() -> None:
    def both(html: str) -> bytes:
        parts = f"--b\nContent-Type: text/plain\n\nplain words\n--b\nContent-Type: text/html\n\n{html}\n--b--\n"
        return mail(parts, kind='multipart/alternative; boundary="b"')

    assert page_of(both("<p>rich words</p>")).markdown == "rich words\n"
    assert page_of(both("<img src='https://t.example/1' width=1>")).markdown == "plain words\n"


def test_too_many_and_too_deep_parts_are_left_out_and_named() -> None:
    wide = mail(
        "".join(f"--b\nContent-Type: text/plain\n\n{n}\n" for n in range(MAX_PARTS * 3)),
        kind="multipart/mixed; boundary=b",
    )
    deep = mail("", kind="multipart/mixed; boundary=b0") + b"".join(
        b"--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n" % (n, n + 1) for n in range(3_000)
    )
    assert parse_message(wide).truncated == [f"more than {MAX_PARTS} parts"]
    assert parse_message(deep).truncated == ["parts nested too deep"]
    assert [warning.code for warning in page_of(wide).trace.warnings] == ["truncated"]


def test_nothing_is_fetched_while_a_message_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a message was followed")

    monkeypatch.setattr(socket, "socket", refuse)
    data = next(path for path in MAILS if path.stem == "confirmation").read_bytes()
    assert "https://bread.example/confirm?t=9a8b7c" in read(data, None, Options()).html
