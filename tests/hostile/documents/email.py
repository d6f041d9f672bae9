"""Messages under attack."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from pathlib import Path

from tests.hostile.documents.kind import Kind

MAILS = Path(__file__).parents[2] / "capture/documents/email/mails"
_SPLICES = (
    *(
        b"\r\n\r\n",
        b"\n--b\n",
        b"=?utf-8?b?",
        b"?=",
        b"=3D=",
        b"\0",
        b"\xff\xfe",
        b"<table>",
        b"</td>",
        b"<b>",
        b"&#",
        b"[[",
    ),
    *(
        b"Content-Type: multipart/mixed; boundary=b\n",
        b"Content-Transfer-Encoding: base64\n",
        b"charset=utf-7",
        b"\n>>>> ",
    ),
    *(
        b"begin 644 x\n",
        b"message/rfc822",
        b"-----BEGIN PGP MESSAGE-----",
        b"\xed\xa0\x80",
        b"\xe2\x80\xae",
        b"99999999999",
    ),
)


def originals() -> list[bytes]:
    """Return our own messages."""
    return [path.read_bytes() for path in sorted(MAILS.glob("*.eml")) if not path.stem.startswith("encrypted")]


def mutate(data: bytes, pick: random.Random) -> bytes:
    """Return the message with bytes changed, repeated, dropped or moved, and with parts of other structures in it."""
    out = bytearray(data)
    for _ in range(pick.choice((1, 3, 10, 40))):
        if len(out) < 40:
            break
        place, kind = pick.randrange(len(out)), pick.randrange(6)
        if kind == 0:
            out[place] = pick.randrange(256)
        elif kind == 1:
            del out[place : place + pick.randrange(1, 80)]
        elif kind == 2:
            start = pick.randrange(len(out))
            out[place:place] = out[start : start + pick.randrange(400)]
        elif kind == 3:
            out[place:place] = pick.choice(_SPLICES) * pick.choice((1, 1, 1, 50))
        elif kind == 4:
            lines = bytes(out).split(b"\n")
            pick.shuffle(lines) if pick.randrange(20) == 0 else lines.insert(
                pick.randrange(len(lines)), pick.choice(lines)
            )
            out = bytearray(b"\n".join(lines))
        else:
            del out[pick.randrange(len(out) // 2, len(out)) :]
    # It must stay a message, or another reader would get it.
    return b"From: a@b.example\nMessage-ID: <1@b.example>\n" + bytes(out)


def _mail(body: str | bytes, kind: str = "text/html", *headers: str) -> bytes:
    head = "\n".join(
        ["From: Ann <ann@a.example>", "Subject: Bomb", "MIME-Version: 1.0", *headers, f"Content-Type: {kind}"]
    )
    return f"{head}\n\n".encode() + (body.encode() if isinstance(body, str) else body)


def bombs() -> Iterator[tuple[str, bytes]]:
    """Yield messages made to take time or memory."""
    yield from _header_bombs()
    yield from _part_bombs()
    yield from _html_bombs()
    yield from _text_bombs()


def _header_bombs() -> Iterator[tuple[str, bytes]]:
    word = "=?utf-8?b?" + base64.b64encode(("harbour " * 4).encode()).decode() + "?="
    yield "encoded words", _mail("<p>x</p>", "text/html", "Subject: " + "\n ".join([word] * 16_000))
    yield "half encoded words", _mail("<p>x</p>", "text/html", "Subject: " + "=?" * 200_000)
    yield "many headers", _mail("<p>x</p>", "text/html", *(f"X-{number}: y" for number in range(200_000)))
    yield "one long header", _mail("<p>x</p>", "text/html", "X-Long: " + "y" * 5_000_000)
    yield "many senders", b"Subject: x\nTo: y\nFrom: " + b"a@a.example, " * 100_000 + b"\n\nText.\n"
    yield "nested comments", b"Subject: x\nTo: y\nFrom: " + b"(" * 200_000 + b"\n\nText.\n"
    yield "open quotes", b'Subject: x\nTo: y\nFrom: "' + b'\\"' * 200_000 + b"\n\nText.\n"
    yield "many parameters", _mail("x", "text/plain; " + "; ".join(f"a{number}=b" for number in range(50_000)))
    yield "continued parameters", _mail("x", "text/plain; " + "; ".join(f"name*{n}*=%41" for n in range(20_000)))
    yield "odd charsets", _mail(b"\xff" * 100_000, 'text/plain; charset="punycode"')
    yield "unknown charset", _mail("harbour", 'text/plain; charset="\0\r\n x"')
    yield "odd date", _mail("<p>x</p>", "text/html", "Date: " + "9" * 100_000)
    yield "marks of a subject", _mail("<p>x</p>", "text/html", "Subject: " + "Re: [a] Fwd: " * 50_000)


def _part_bombs() -> Iterator[tuple[str, bytes]]:
    deep = "".join(f"--b{n}\nContent-Type: multipart/mixed; boundary=b{n + 1}\n\n" for n in range(50_000))
    yield "nested parts", _mail(deep, "multipart/mixed; boundary=b0")
    yield "nested messages", _mail("Content-Type: message/rfc822\n\n" * 100_000, "message/rfc822")
    yield "many parts", _mail("--b\nContent-Type: text/plain\n\nx\n" * 200_000, "multipart/mixed; boundary=b")
    yield "many empty parts", _mail("--b\n" * 1_000_000, "multipart/mixed; boundary=b")
    yield (
        "same boundary",
        _mail("--b\nContent-Type: multipart/mixed; boundary=b\n\n" * 100_000, "multipart/mixed; boundary=b"),
    )
    yield "boundary of signs", _mail("--((((\n" * 100_000, 'multipart/mixed; boundary="(((("')
    inner = b"From: a@a.example\nSubject: x\n\n" + b"text\n" * 100
    digest = b"--d\n\n" + b"\n--d\n\n".join([inner] * 10_000)
    yield "large digest", _mail(digest, "multipart/digest; boundary=d")
    yield "base64 of signs", _mail(b"=" * 9_000_000, "text/html\nContent-Transfer-Encoding: base64")
    yield "quoted signs", _mail(b"=\n" * 4_000_000, "text/html\nContent-Transfer-Encoding: quoted-printable")
    yield (
        "uuencoded lines",
        _mail(b"begin 644 x\n" + b"M" * 9_000_000, "text/plain\nContent-Transfer-Encoding: x-uuencode"),
    )


def _html_bombs() -> Iterator[tuple[str, bytes]]:
    yield "nested tables", _mail("<table><tr><td>" * 20_000 + "deep")
    yield "nested boxes", _mail("<div>" * 200_000 + "deep")
    yield "flat boxes", _mail("<div>word</div>" * 400_000)
    yield "boxes in boxes", _mail(("<div>" * 300 + "word" + "<br><br>x" * 50 + "</div>" * 300) * 60)
    yield "many pictures", _mail('<img src="https://a.example/x.png" width="2">' * 150_000)
    yield "many links", _mail('<a href="https://t.example/c?url=https%3A%2F%2Fa.example%2Fx">word</a> ' * 100_000)
    packed = base64.urlsafe_b64encode(json.dumps({"e": [[]] * 1_000}).encode()).decode()
    yield "packed links", _mail(f'<a href="https://t.example/c/{packed}">word</a> ' * 2_000)
    yield "long link", _mail(f'<a href="https://t.example/c?url={"https%3A" * 900_000}">word</a>')
    yield "styles", _mail(f'<p style="{"display : " * 800_000}">word</p>')
    yield "unsubscribe links", _mail('<p><a href="https://a.example/unsubscribe">unsubscribe</a></p>' * 100_000)
    yield "social words", _mail(f"<p>{'facebook  ' * 200_000}!</p><p><a href='https://a.example/u'>unsubscribe</a></p>")
    yield "filling characters", _mail(f"<p>{'&#8204; &#847;' * 400_000}word</p>")
    yield "open formatting", _mail("<b><i><u><font>" * 100_000 + "word")
    yield "wide table", _mail("<table><tr>" + "<td>1</td>" * 100_000 + "</tr><tr><td>2</td></tr></table>")


def _text_bombs() -> Iterator[tuple[str, bytes]]:
    yield "deep quotes", _mail(("> " * 5_000 + "word\n") * 500, "text/plain")
    yield "flowed lines", _mail("word \n" * 1_500_000, "text/plain; format=flowed")
    yield "changing quotes", _mail("".join(f"{'>' * (n % 40)} word\n" for n in range(400_000)), "text/plain")
    yield "addresses", _mail(("https://a.example/" + ")" * 1_900 + " ") * 4_000, "text/plain")
    yield "open addresses", _mail("<https://" * 900_000, "text/plain")
    yield "rules", _mail("----------\n" * 800_000, "text/plain")
    yield "list items", _mail("* word\n" * 1_000_000, "text/plain")
    yield "blank lines", _mail(" \n" * 4_000_000, "text/plain")
    yield "forwarded lines", _mail("From: a\nSubject: b\n\n" * 300_000, "text/plain", "Subject: Fwd: x")
    yield "one line", _mail("word " * 1_900_000, "text/plain")


KIND = Kind(originals, bombs, mutate)
