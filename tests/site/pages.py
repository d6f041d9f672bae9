"""What the site answers, by the first segment of the path."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter

from tests.site.bombs import bomb, name_on_the_wire, packed
from tests.site.server import Handler, Reply, Request, to_bytes

PAGES: dict[str, Handler] = {}
WORDS = "The miller counted the sacks, one by one, until the tide turned and the boats came in."
ARTICLE = (
    "<!doctype html><title>The mill by the tide</title><main><h1>The mill by the tide</h1>"
    + f"<p>{WORDS}</p>" * 12
    + "</main>"
)

CHARSETS = {
    "utf-8": "Grüße, мир, 世界",
    "utf-16le": "Grüße aus der Mühle",
    "utf-16be": "Grüße aus der Mühle",
    "iso-8859-1": "Grüße aus der Mühle",
    "iso-8859-2": "Příliš žluťoučký kůň",
    "iso-8859-3": "Ĉu ŝi ĝojas pri ĵaŭdo",
    "iso-8859-4": "Šķērsām pāri ielai",
    "iso-8859-5": "Мельник считал мешки",
    "iso-8859-6": "عد الطحان الأكياس",
    "iso-8859-7": "Ο μυλωνάς μέτρησε",
    "iso-8859-8": "הטוחן ספר את השקים",
    "iso-8859-9": "Değirmenci çuvalları saydı, iş güç",
    "iso-8859-10": "Það er ágætt veður",
    "iso-8859-13": "Malūnininkas suskaičiavo žąsis",
    "iso-8859-15": "Le meunier a compté, cœur léger, 5 €",
    "iso-8859-16": "Morarul a numărat și țesut",
    "windows-1250": "Příliš žluťoučký kůň",
    "windows-1251": "Мельник считал мешки",
    "windows-1252": "“Grüße” – 5 €",
    "windows-1253": "Ο μυλωνάς μέτρησε",
    "windows-1254": "Değirmenci çuvalları saydı",
    "windows-1255": "הטוחן ספר את השקים",
    "windows-1256": "عد الطحان الأكياس",
    "windows-1257": "Malūnininkas suskaičiavo",
    "windows-1258": "Tôi và các anh đang đi câu cá",
    "koi8-r": "Мельник считал мешки",
    "koi8-u": "Мірошник рахував мішки, їжак",
    "ibm866": "Мельник считал мешки",
    "windows-874": "โรงสีนับกระสอบ",
    "gbk": "磨坊主数着袋子",
    "gb18030": "磨坊主数着袋子",
    "big5": "磨坊主數著袋子",
    "euc-jp": "粉屋は袋を数えた",
    "shift_jis": "粉屋は袋を数えた",
    "iso-2022-jp": "粉屋は袋を数えた",
    "euc-kr": "방앗간 주인이 자루를 세었다",
}
"""More than thirty character sets, each with words that only it (or few others) can write."""
CODECS = {"windows-874": "cp874", "ibm866": "cp866"}


def page(name: str):  # type: ignore[no-untyped-def]
    def register(handler: Handler) -> Handler:
        PAGES[name] = handler
        return handler

    return register


@page("")
@page("article")
async def article(request: Request, reply: Reply) -> None:
    await reply.send(ARTICLE)


@page("status")
async def status(request: Request, reply: Reply) -> None:
    """`/status/404`: an error page with words."""
    code = int(request.path.split("/")[2])
    await reply.send(f"<title>Status {code}</title><p>The server says {code}.", code)


@page("type")
async def content_type(request: Request, reply: Reply) -> None:
    """`/type?is=...&body=...`: the body under that content type; without `is`, without a type."""
    body = to_bytes(request.query.get("body", ARTICLE))
    lines = [f"content-type: {request.query['is']}"] if "is" in request.query else []
    await reply.head(int(request.query.get("status", 200)), [*lines, f"content-length: {len(body)}"])
    await reply.raw(body)


# Redirects


@page("to")
async def to(request: Request, reply: Reply) -> None:
    """`/to?url=...&status=...`: a redirect to anything, as it stands."""
    await reply.send("elsewhere", int(request.query.get("status", 302)), location=request.query["url"])


@page("hops")
async def hops(request: Request, reply: Reply) -> None:
    """`/hops/3`: three redirects, then the article."""
    left = int(request.path.split("/")[2])
    if left:
        await reply.send("", 302, location=f"/hops/{left - 1}")
    else:
        await article(request, reply)


@page("loop")
async def loop(request: Request, reply: Reply) -> None:
    await reply.send("", 302, location="/loop")


@page("slow-hops")
async def slow_hops(request: Request, reply: Reply) -> None:
    """An endless chain that takes a little time at every hop."""
    await asyncio.sleep(0.3)
    await reply.send("", 302, location="/slow-hops")


@page("no-location")
async def no_location(request: Request, reply: Reply) -> None:
    await reply.send("<p>Moved, but nobody knows where to.", 302)


@page("cookie-wall")
async def cookie_wall(request: Request, reply: Reply) -> None:
    """Sets a cookie and redirects to itself until the cookie comes back."""
    if "seen=yes" in request.headers.get("cookie", ""):
        await article(request, reply)
    else:
        await reply.send("", 302, location="/cookie-wall", set_cookie="seen=yes; Path=/; HttpOnly")


@page("echo")
async def echo(request: Request, reply: Reply) -> None:
    """The request's headers, one per line."""
    await reply.send(
        "\n".join(f"{name}: {value}" for name, value in request.headers.items()), content_type="text/plain"
    )


# Content codings and sizes


@page("coded")
async def coded(request: Request, reply: Reply) -> None:
    """`/coded?by=gzip,br`: the article, packed by each in turn; `chunk=1` sends it byte by byte."""
    codings = request.query["by"].split(",")
    body = packed(ARTICLE.encode(), *codings) + request.query.get("tail", "").encode()
    named = ", ".join(map(name_on_the_wire, codings))
    lines = ["content-type: text/html", f"content-encoding: {request.query.get('named', named)}"]
    if "cut" in request.query:
        body = body[: -int(request.query["cut"])]
    await reply.head(200, [*lines, "connection: close"])
    step = int(request.query.get("chunk", len(body)))
    for start in range(0, len(body), step):
        await reply.raw(body[start : start + step])
        await asyncio.sleep(0)


@page("bomb")
async def send_bomb(request: Request, reply: Reply) -> None:
    """`/bomb?by=br&mb=1000`."""
    codings = tuple(request.query["by"].split(","))
    body = await asyncio.to_thread(bomb, codings, int(request.query["mb"]))
    named = ", ".join(map(name_on_the_wire, codings))
    await reply.send(body, int(request.query.get("status", 200)), content_encoding=named)


@page("packed-bomb")
async def packed_bomb(request: Request, reply: Reply) -> None:
    """The same bytes, not said to be packed."""
    body = await asyncio.to_thread(bomb, tuple(request.query["by"].split(",")), int(request.query["mb"]))
    await reply.send(body, content_type="application/octet-stream")


@page("plain-bomb")
async def plain_bomb(request: Request, reply: Reply) -> None:
    """As many bytes as the client will take, unpacked."""
    await reply.head(200, ["content-type: text/html"])
    while True:
        await reply.raw(b"<p>more</p>" * 10_000)


@page("sized")
async def sized(request: Request, reply: Reply) -> None:
    """`/sized?bytes=100&type=application/pdf`: a page of exactly that size."""
    content_type = request.query.get("type", "text/html; charset=utf-8")
    await reply.send(b"%PDF-".ljust(int(request.query["bytes"]), b"x"), content_type=content_type)


# Slowness and lies


@page("drip")
async def drip(request: Request, reply: Reply) -> None:
    """One byte of body at a time, for ever; `every` seconds."""
    await reply.head(200, ["content-type: text/html"])
    while True:
        await reply.raw(b"x")
        await asyncio.sleep(float(request.query.get("every", 1)))


@page("drip-head")
async def drip_head(request: Request, reply: Reply) -> None:
    """A header that never ends, slowly."""
    await reply.raw(b"HTTP/1.1 200 OK\r\n")
    for number in itertools.count():
        await reply.raw(f"x-{number}: y\r\n".encode())
        await asyncio.sleep(0.2)


@page("flood-head")
async def flood_head(request: Request, reply: Reply) -> None:
    """A header that never ends, as fast as it goes."""
    await reply.raw(b"HTTP/1.1 200 OK\r\n")
    for number in itertools.count():
        await reply.raw(f"x-{number}: {'y' * 1000}\r\n".encode())


@page("silent")
async def silent(request: Request, reply: Reply) -> None:
    await asyncio.sleep(3600)


@page("continues")
async def continues(request: Request, reply: Reply) -> None:
    """ "Wait, more to come", for ever."""
    while True:
        await reply.raw(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await asyncio.sleep(0.01)


@page("endless-chunks")
async def endless_chunks(request: Request, reply: Reply) -> None:
    await reply.head(200, ["content-type: text/html", "transfer-encoding: chunked"])
    while True:
        await reply.raw(b"1\r\nx\r\n")
        await asyncio.sleep(0.01)


@page("chunk-flood")
async def chunk_flood(request: Request, reply: Reply) -> None:
    """Chunks of one byte as fast as it goes: the most work for the fewest bytes."""
    await reply.head(200, ["content-type: text/html", "transfer-encoding: chunked"])
    while True:
        await reply.raw(b"1\r\nx\r\n" * 10_000)


@page("too-short")
async def too_short(request: Request, reply: Reply) -> None:
    """Less than the length it promised, then the end."""
    await reply.head(200, ["content-type: text/html", "content-length: 100000"])
    await reply.raw(ARTICLE.encode())


@page("too-long")
async def too_long(request: Request, reply: Reply) -> None:
    """More than the length it promised."""
    body = ARTICLE.encode()
    await reply.head(200, ["content-type: text/html", f"content-length: {len(body) - 100}"])
    await reply.raw(body)


@page("withheld")
async def withheld(request: Request, reply: Reply) -> None:
    """Less than the length it promised, and no end."""
    await reply.head(200, ["content-type: text/html", "content-length: 100000"])
    await reply.raw(ARTICLE.encode())
    await asyncio.sleep(3600)


@page("raw")
async def raw(request: Request, reply: Reply) -> None:
    """`/raw?bytes=...`: exactly these bytes, then the end."""
    await reply.raw(to_bytes(request.query["bytes"]))


@page("reset")
async def reset(request: Request, reply: Reply) -> None:
    reply.reset()


@page("hang-up")
async def hang_up(request: Request, reply: Reply) -> None:
    """Ends the connection without a word."""


# Busy servers. Each name counts for itself, so tests do not meet.

_TRIES: Counter[str] = Counter()


@page("busy")
async def busy(request: Request, reply: Reply) -> None:
    """`/busy/name?times=2&status=503&after=5`: busy so often, then the article."""
    _TRIES[request.path] += 1
    if _TRIES[request.path] > int(request.query["times"]):
        await article(request, reply)
        return
    asked = {"retry_after": request.query["after"]} if "after" in request.query else {}
    await reply.send("<p>Busy.", int(request.query.get("status", 503)), **asked)


@page("shaky")
async def shaky(request: Request, reply: Reply) -> None:
    """`/shaky/name?times=1&how=reset`: hangs up so often, then the article."""
    _TRIES[request.path] += 1
    if _TRIES[request.path] > int(request.query["times"]):
        await article(request, reply)
    elif request.query.get("how") == "reset":
        reply.reset()


# Conditional requests, character sets, scripts


@page("dated")
async def dated(request: Request, reply: Reply) -> None:
    """Knows its ETag and its date, and keeps quiet to who has it already."""
    stamp = {"etag": '"v1"', "last_modified": "Mon, 03 Mar 2025 10:00:00 GMT"}
    known = request.headers.get("if-none-match") == stamp["etag"]
    if known or request.headers.get("if-modified-since") == stamp["last_modified"]:
        await reply.head(304, [f"etag: {stamp['etag']}"])
    else:
        await reply.send(ARTICLE, **stamp)


@page("charset")
async def charset(request: Request, reply: Reply) -> None:
    """`/charset/koi8-r?by=header`, `by=meta` or `by=bom`."""
    name = request.path.split("/")[2]
    by = request.query["by"]
    meta = f'<meta charset="{name}">' if by == "meta" else ""
    text = f"<!doctype html>{meta}<title>{CHARSETS[name]}</title><p>{CHARSETS[name]}. " * 3
    body = (("\ufeff" if by == "bom" else "") + text).encode(CODECS.get(name, name))
    await reply.send(body, content_type=f"text/html; charset={name}" if by == "header" else "text/html")


@page("app")
async def app(request: Request, reply: Reply) -> None:
    """An application that is empty without its script."""
    script = f"document.getElementById('root').innerHTML = '<h1>From a script</h1><p>{WORDS}</p>'.repeat(9)"
    await reply.send(f"<!doctype html><title>App</title><div id=root></div><script>{script}</script>")
