"""One file from a browser's snapshot: no scripts, each picture once, and a list of what is missing."""

from __future__ import annotations

import base64
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart

import pytest

from pagekeep.capture import single_file
from pagekeep.capture.single_file import SingleFile, SingleFileTask
from pagekeep.errors import ParseError

URL = "https://harbour.example/page"
PNG = b"\x89PNG\r\n\x1a\n" + b"boat" * 50


def snapshot(html: str, **files: tuple[str, bytes]) -> bytes:
    message = MIMEMultipart("related")
    for url, (kind, body) in {URL: ("text/html", html.encode()), **files}.items():
        part = MIMENonMultipart(*kind.split("/"), charset="utf-8")
        part.set_payload(base64.encodebytes(body).decode())
        part["Content-Transfer-Encoding"] = "base64"
        part["Content-Location"] = url
        message.attach(part)
    return message.as_bytes()


def make(html: str, **files: tuple[str, bytes]) -> SingleFile:
    at = {
        name if "://" in name or name.startswith("cid:") else f"https://harbour.example/{name}": file
        for name, file in files.items()
    }
    return SingleFileTask(snapshot(html, **at), URL, "2025-03-19T10:30:00Z").run()


def text(file: SingleFile) -> str:
    return file.html.decode()


@pytest.mark.parametrize("part", [
    "<script>x()</script>", "<img src=a.png onerror=x()>", '<a href="javascript:x()">a</a>', '<a href=" java\tscript:x()">a</a>',
    "<svg onload=x()><script>x()</script><set attributeName=href to=javascript:x() /></svg>", "<object data=x></object>",
    '<iframe srcdoc="<script>x()</script>"></iframe>', "<meta http-equiv=refresh content='0;url=https://x.example'>",
    "<noscript><p>x()</p></noscript>", "<form action=https://x.example><button formaction=https://x.example>b</button></form>",
    "<base href=https://x.example/>", ])  # fmt: skip
def test_nothing_that_runs_is_left(part: str) -> None:
    made = text(make(f"<body><p>Words.</p>{part}</body>", **{"a.png": ("image/png", PNG)}))
    assert "Words." in made
    assert "x()" not in made
    assert "x.example" not in made


def test_picture_that_is_used_often_is_in_the_file_once() -> None:
    html = "<body>" + "<img src=/boat.png>" * 1_000 + "<p style='background:url(/boat.png)'></p></body>"
    made = make(html, **{"boat.png": ("image/png", PNG)})
    assert text(made).count(base64.b64encode(PNG).decode()) == 1
    assert (made.resources, made.missing) == (1, ())


def test_style_sheets_are_inlined_with_their_imports_and_pictures() -> None:
    css = b'@import "more.css" screen; h1{background:url(boat.png)} p::before{content:"</style>"}'
    files = {"style.css": ("text/css", css), "more.css": ("text/css", b"h2{color:red}"), "boat.png": ("image/png", PNG)}
    made = text(make("<head><link rel=stylesheet href=/style.css></head><body><h1>a</h1></body>", **files))
    assert "@media screen{h2{color:red}}" in made
    assert f'url("data:image/png;base64,{base64.b64encode(PNG).decode()}' in made
    assert made.count("</style>") == made.count("<style")


def test_what_is_missing_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single_file, "MAX_RESOURCE_BYTES", 300)
    monkeypatch.setattr(single_file, "MAX_PAGE_BYTES", 400)
    pictures = {"a.png": ("image/png", PNG), "b.png": ("image/png", PNG + b"x"), "large.png": ("image/png", PNG * 2)}
    html = "<body>" + "".join(f"<img src=/{name}>" for name in (*pictures, "gone.png", "page.pdf")) + "</body>"
    made = make(html, **pictures, **{"page.pdf": ("application/pdf", b"%PDF")})
    reasons = {entry.url.rpartition("/")[2]: entry.reason for entry in made.missing}
    assert reasons == {
        "b.png": "page_full",
        "large.png": "too_large",
        "gone.png": "unreachable",
        "page.pdf": "not_wanted",
    }
    assert "gone.png (unreachable)" in text(made)


def test_picture_that_the_browser_chose_is_kept() -> None:
    html = "<body><picture><source srcset='/wide.png 2x'><img srcset='/small.png 1x, /boat.png 2x' src=/none.png></picture></body>"
    made = make(html, **{"boat.png": ("image/png", PNG)})
    assert (made.resources, made.missing) == (1, ())


def test_links_are_absolute_and_frames_are_inside() -> None:
    files = {"cid:frame-1@mhtml.blink": ("text/html", b"<p>In the frame<script>x()</script>")}
    html = "<body><a href=other>o</a><a href=#top>t</a><iframe src='cid:frame-1@mhtml.blink'></iframe></body>"
    made = text(make(html, **files))
    assert 'href="https://harbour.example/other"' in made
    assert 'href="#top"' in made
    assert "In the frame" in made
    assert "x()" not in made


@pytest.mark.parametrize("data", [b"", b"\xff\x00" * 50, b"Content-Type: multipart/related; boundary=x\r\n\r\n--x\r\n"])
def test_garbage_is_an_error_of_ours(data: bytes) -> None:
    with pytest.raises(ParseError):
        SingleFileTask(data, URL, "2025").run()
