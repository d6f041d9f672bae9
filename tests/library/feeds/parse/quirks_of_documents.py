"""Quirks of whole documents: encodings, versions, broken XML and JSON Feed; as in `quirks.py`."""

from __future__ import annotations

import codecs
import json
from typing import Any

from tests.library.feeds.parse.quirks import NS, Case, atom, jfeed, rss

_WORDS = "Größe – café"


def _declared(encoding: str, label: str | None = None, text: str = _WORDS) -> bytes:
    document = f'<?xml version="1.0" encoding="{label or encoding}"?><rss version="2.0"><channel><title>H</title><item><title>{text}</title></item></channel></rss>'
    return document.encode(encoding)


_BARE = f'<rss version="2.0"><channel><title>H</title><item><title>{_WORDS}</title></item></channel></rss>'
ENCODINGS: list[Case] = [
    ("utf-8", _declared("utf-8"), {"title": _WORDS}),
    ("utf-8 with a mark", codecs.BOM_UTF8 + _declared("utf-8"), {"title": _WORDS}),
    ("utf-8 without a declaration", _BARE.encode(), {"title": _WORDS}),
    ("utf-8 declared as latin-1", _declared("utf-8", "iso-8859-1"), {"title": _WORDS}),
    ("utf-8 declared as us-ascii", _declared("utf-8", "us-ascii"), {"title": _WORDS}),
    ("utf-8 declared as utf-16", _declared("utf-8", "utf-16"), {"title": _WORDS}),
    ("utf-8 with an unknown label", _declared("utf-8", "x-unknown"), {"title": _WORDS}),
    ("utf-16 with a mark", codecs.BOM_UTF16_LE + _declared("utf-16-le", "utf-16"), {"title": _WORDS}),
    ("utf-16 big-endian with a mark", codecs.BOM_UTF16_BE + _declared("utf-16-be", "utf-16"), {"title": _WORDS}),
    ("utf-16 without a mark", _declared("utf-16-le", "utf-16"), {"title": _WORDS}),
    ("utf-16 big-endian without a mark", _declared("utf-16-be", "utf-16"), {"title": _WORDS}),
    ("utf-32 with a mark", codecs.BOM_UTF32_LE + _declared("utf-32-le", "utf-32"), {"title": _WORDS}),
    ("windows-1252", _declared("windows-1252"), {"title": _WORDS}),
    ("windows-1252 declared as utf-8", _declared("windows-1252", "utf-8"), {"title": _WORDS}),
    ("windows-1252 declared as latin-1", _declared("windows-1252", "iso-8859-1"), {"title": _WORDS}),
    ("windows-1252 without a declaration", _BARE.encode("windows-1252"), {"title": _WORDS}),
    ("iso-8859-15", _declared("iso-8859-15", text="10 €"), {"title": "10 €"}),
    ("windows-1251", _declared("windows-1251", text="Старый порт"), {"title": "Старый порт"}),
    ("koi8-r", _declared("koi8-r", text="Старый порт"), {"title": "Старый порт"}),
    ("shift_jis", _declared("shift_jis", text="古い港"), {"title": "古い港"}),
    ("euc-jp", _declared("euc-jp", text="古い港"), {"title": "古い港"}),
    ("gb2312", _declared("gb2312", text="旧港口"), {"title": "旧港口"}),
    ("big5", _declared("big5", text="舊港口"), {"title": "舊港口"}),
    ("euc-kr", _declared("euc-kr", text="옛 항구"), {"title": "옛 항구"}),
    (
        "one broken byte in utf-8",
        _declared("utf-8", text="Größe, Größe, Größe, Größe, Maß X").replace(b"X", b"\xff"),
        {"title": "Größe, Größe, Größe, Größe, Maß…"},
    ),
    ("a codec of Python, not of the web", _declared("utf-8", "punycode", text="pier"), {"title": "pier"}),
    ("rot13 is not an encoding", _declared("utf-8", "rot13", text="pier"), {"title": "pier"}),
    ("control characters", _declared("utf-8", text="The \x0b\x01pier"), {"title": "The pier"}),
    ("NUL", _declared("utf-8", text="The \x00pier"), {"title": "The pier"}),
    ("JSON with a mark", codecs.BOM_UTF8 + jfeed({"id": "1", "title": _WORDS}), {"title": _WORDS}),
]

_ITEM = "<item><title>t</title><link>https://example.com/a</link></item>"
VERSIONS: list[Case] = [
    (
        "RSS 0.90",
        f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel><title>H</title></channel>{_ITEM}</rdf:RDF>'.encode(),
        {"title": "t", ".format": "rss090", ".title": "H"},
    ),
    ("RSS 0.91", rss("<title>t</title>", version="0.91"), {"title": "t", ".format": "rss091…"}),
    (
        "RSS 0.91 with its doctype",
        b'<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd"><rss version="0.91"><channel><title>H</title><item><title>t</title></item></channel></rss>',
        {"title": "t", ".format": "rss091…"},
    ),
    ("RSS 0.92", rss("<title>t</title>", version="0.92"), {"title": "t", ".format": "rss092"}),
    ("RSS 0.93", rss("<title>t</title>", version="0.93"), {".format": "rss093"}),
    ("RSS 0.94", rss("<title>t</title>", version="0.94"), {".format": "rss094"}),
    (
        "RSS 1.0",
        f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" {NS}><channel rdf:about="x"><title>H</title><link>https://example.com/</link></channel><item rdf:about="https://example.com/a"><title>t</title><link>https://example.com/a</link><description>d</description><dc:date>2025-03-19</dc:date></item></rdf:RDF>'.encode(),
        {"title": "t", ".format": "rss10", "text": "d", ".site": "https://example.com/"},
    ),
    ("RSS 2.0", rss("<title>t</title>"), {".format": "rss20"}),
    ("RSS 2.0.1", rss("<title>t</title>", version="2.0.1"), {".format": "rss20"}),
    (
        "RSS without a version",
        b"<rss><channel><title>H</title><item><title>t</title></item></channel></rss>",
        {"title": "t", ".format": "rss"},
    ),
    ("RSS of a version that does not exist", rss("<title>t</title>", version="9"), {"title": "t"}),
    (
        "RSS 2.0 with a default namespace",
        b'<rss version="2.0" xmlns="http://backend.userland.com/rss2"><channel><title>H</title><item><title>t</title></item></channel></rss>',
        {"title": "t"},
    ),
    (
        "items outside the channel",
        f'<rss version="2.0"><channel><title>H</title></channel>{_ITEM}</rss>'.encode(),
        {"title": "t"},
    ),
    ("a channel without rss", f"<channel><title>H</title>{_ITEM}</channel>".encode(), {"title": "t"}),
    (
        "capital letters",
        b"<RSS version='2.0'><CHANNEL><TITLE>H</TITLE><ITEM><TITLE>t</TITLE></ITEM></CHANNEL></RSS>",
        {"n": 1},
    ),
    (
        "Atom 0.3",
        b'<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>H</title><entry><title>t</title><id>1</id><content type="text/html" mode="escaped">&lt;b&gt;x&lt;/b&gt;</content></entry></feed>',
        {".format": "atom03", "text": "**x**"},
    ),
    ("Atom 1.0", atom("<id>1</id><title>t</title>"), {".format": "atom10"}),
    (
        "Atom with a prefix",
        b'<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:title>H</a:title><a:entry><a:id>1</a:id><a:title>t</a:title></a:entry></a:feed>',
        {"title": "t", ".title": "H"},
    ),
    (
        "Atom without its namespace",
        b"<feed><title>H</title><entry><id>1</id><title>t</title></entry></feed>",
        {"title": "t"},
    ),
    ("an empty feed", b'<rss version="2.0"><channel><title>H</title></channel></rss>', {"n": 0, ".title": "H"}),
    (
        "an empty Atom feed",
        b'<feed xmlns="http://www.w3.org/2005/Atom"><title>H</title></feed>',
        {"n": 0, ".title": "H"},
    ),
    (
        "a stylesheet instruction",
        b'<?xml version="1.0"?><?xml-stylesheet href="x.xsl"?><rss version="2.0"><channel><title>H</title><item><title>t</title></item></channel></rss>',
        {"title": "t"},
    ),
    (
        "comments everywhere",
        b'<!-- a --><rss version="2.0"><!-- b --><channel><title>H</title><!-- c --><item><!-- d --><title>t</title></item></channel></rss><!-- e -->',
        {"title": "t"},
    ),
    ("ttl in minutes", rss("<title>t</title>", "<title>H</title><ttl>90</ttl>"), {".ttl_seconds": 5400}),
    ("a ttl that is not a number", rss("<title>t</title>", "<title>H</title><ttl>soon</ttl>"), {".ttl_seconds": None}),
    (
        "an update period",
        rss(
            "<title>t</title>",
            "<title>H</title><sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>",
        ),
        {".ttl_seconds": 21600},
    ),
    (
        "an update frequency of zero",
        rss(
            "<title>t</title>",
            "<title>H</title><sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>0</sy:updateFrequency>",
        ),
        {".ttl_seconds": 3600},
    ),
    ("a language", rss("<title>t</title>", "<title>H</title><language>pt-BR</language>"), {".language": "pt-BR"}),
]

_GOOD = '<rss version="2.0"><channel><title>H</title><item><title>t</title><description>d</description></item>'
BROKEN: list[Case] = [
    ("cut off after an item", _GOOD.encode(), {"title": "t", "text": "d"}),
    ("cut off in an item", _GOOD[:-14].encode(), {"title": "t"}),
    ("cut off in a tag", (_GOOD + "<item><tit").encode(), {"title": "t"}),
    ("junk before", b"\n\n  \t" + rss("<title>t</title>"), {"title": "t"}),
    (
        "a warning before",
        b"<br />\n<b>Warning</b>: something in <b>/x.php</b> on line 1<br />" + rss("<title>t</title>"),
        {"title": "t"},
    ),
    ("junk after", rss("<title>t</title>") + b"<!-- cached --> <script>x</script>", {"title": "t"}),
    ("the declaration not first", b"<!-- x -->" + rss("<title>t</title>"), {"title": "t"}),
    ("two declarations", b'<?xml version="1.0"?>' + rss("<title>t</title>"), {"title": "t"}),
    (
        "an undeclared prefix",
        b'<rss version="2.0"><channel><title>H</title><item><title>t</title><foo:bar>x</foo:bar></item></channel></rss>',
        {"title": "t"},
    ),
    (
        "an undeclared content prefix",
        b'<rss version="2.0"><channel><title>H</title><item><title>t</title><content:encoded>&lt;p&gt;w&lt;/p&gt;</content:encoded></item></channel></rss>',
        {"title": "t", "text": "w"},
    ),
    (
        "an undeclared media prefix",
        b'<rss version="2.0"><channel><title>H</title><item><title>t</title><media:thumbnail url="https://e.com/t.jpg"/></item></channel></rss>',
        {"title": "t"},
    ),
    (
        "tags crossed",
        b'<rss version="2.0"><channel><title>H</title><item><title>t</title><description><p>a<b>b</p>c</b></description></item></channel></rss>',
        {"title": "t"},
    ),
    (
        "attributes without quotes",
        b"<rss version=2.0><channel><title>H</title><item><title>t</title></item></channel></rss>",
        {"title": "t"},
    ),
    (
        "a doubled attribute",
        b'<rss version="2.0" version="2.0"><channel><title>H</title><item><title>t</title></item></channel></rss>',
        {"title": "t"},
    ),
    (
        "an unclosed title",
        b'<rss version="2.0"><channel><title>H</title><item><title>t<link>https://example.com/a</link></item></channel></rss>',
        {"n": 1},
    ),
    (
        "an unclosed CDATA",
        b'<rss version="2.0"><channel><title>H</title><item><title>t</title><description><![CDATA[<p>x</p></description></item></channel></rss>',
        {"title": "t"},
    ),
    ("an undeclared entity", rss("<title>a &foo; b</title>"), {"title": "a…"}),
    (
        "an entity of the document",
        b'<!DOCTYPE rss [<!ENTITY pier "The pier">]><rss version="2.0"><channel><title>H</title><item><title>&pier;</title></item></channel></rss>',
        {"n": 1},
    ),
    (
        "an external entity",
        b'<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss version="2.0"><channel><title>H</title><item><title>t &x;</title></item></channel></rss>',
        {"title": "t…", "absent": "root:"},
    ),
    ("XML 1.1", rss("<title>t</title>").replace(b'version="1.0"', b'version="1.1"', 1), {"title": "t"}),
    ("an empty item", b'<rss version="2.0"><channel><title>H</title><item/></channel></rss>', {"n": 1}),
    (
        "an item in an item",
        b'<rss version="2.0"><channel><title>H</title><item><title>t</title><item><title>u</title></item></item></channel></rss>',
        {"title": "…"},
    ),
    ("HTML with an embedded feed tag", b"<html><body><p>x</p></body></html>", {"error": "UnsupportedContent"}),
    ("nothing", b"", {"error": "UnsupportedContent"}),
    ("plain text", b"Hello", {"error": "UnsupportedContent"}),
    ("a picture", b"\x89PNG\r\n\x1a\n" + b"\x00" * 50, {"error": "UnsupportedContent"}),
    (
        "OPML is not a feed",
        b'<opml version="2.0"><body><outline text="x" xmlUrl="https://e.com"/></body></opml>',
        {"error": "UnsupportedContent"},
    ),
    (
        "a sitemap is not a feed",
        b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://e.com/</loc></url></urlset>',
        {"error": "UnsupportedContent"},
    ),
]


def _items(*items: Any, **top: Any) -> bytes:
    return json.dumps({"version": "https://jsonfeed.org/version/1", "title": "H", "items": list(items)} | top).encode()


JSON: list[Case] = [
    (
        "1.1",
        jfeed(
            {
                "id": "1",
                "url": "https://e.com/1",
                "title": "t",
                "content_html": "<p>a <b>b</b></p>",
                "date_published": "2025-03-19T10:30:00-01:00",
            }
        ),
        {
            "guid": "1",
            "url": "https://e.com/1",
            "title": "t",
            "text": "a **b**",
            "published_at": "2025-03-19T11:30…",
            ".format": "json11",
        },
    ),
    ("1.0", _items({"id": "1"}), {".format": "json1", "guid": "1"}),
    ("text", jfeed({"id": "1", "content_text": "One.\n\nTwo <3"}), {"text": "One.\n\nTwo <3"}),
    ("HTML before text", jfeed({"id": "1", "content_text": "x", "content_html": "<p>y</p>"}), {"text": "y"}),
    ("summary only", jfeed({"id": "1", "summary": "Short."}), {"text": "Short."}),
    (
        "external_url",
        jfeed({"id": "1", "url": "https://e.com/1", "external_url": "https://other.example/"}),
        {"url": "https://e.com/1", "extra": {"about": "https://other.example/"}},
    ),
    (
        "only external_url",
        jfeed({"id": "1", "external_url": "https://other.example/"}),
        {"url": "https://other.example/", "extra": {}},
    ),
    ("the id is the address", jfeed({"id": "https://e.com/1"}), {"url": "https://e.com/1"}),
    ("a relative address", jfeed({"id": "1", "url": "/1"}), {"url": "https://example.com/1"}),
    (
        "relative addresses in HTML",
        jfeed({"id": "1", "url": "https://e.com/x/", "content_html": '<a href="y">y</a>'}),
        {"text": "[y](https://e.com/x/y)"},
    ),
    ("date_modified", jfeed({"id": "1", "date_modified": "2025-03-19"}), {"published_at": "2025-03-19…"}),
    ("a bad date", jfeed({"id": "1", "date_published": "soon"}), {"published_at": None}),
    ("no id", jfeed({"url": "https://e.com/1"}), {"guid": "https://e.com/1"}),
    ("no title", jfeed({"id": "1", "content_text": "A short post."}), {"title": "A short post."}),
    ("markup in the title", jfeed({"id": "1", "title": "The <i>pier</i>"}), {"title": "The pier"}),
    (
        "fields of the wrong type",
        jfeed(
            {"id": ["x"], "title": 5, "url": {}, "content_html": [], "tags": "x", "authors": "Ada", "attachments": {}}
        ),
        {"n": 1, "title": "Untitled"},
    ),
    ("items that are not objects", _items(None, 5, {"id": "1"}), {"n": 1, "guid": "1"}),
    ("no version", json.dumps({"title": "H", "items": [{"id": "1"}]}).encode(), {".format": "json", "n": 1}),
    ("next_url", jfeed({"id": "1"}, next_url="?page=2"), {".next_url": "https://example.com/blog/feed.xml?page=2"}),
    ("home_page_url", jfeed({"id": "1"}, home_page_url="https://e.com"), {".site": "https://e.com…"}),
    (
        "a hub",
        jfeed({"id": "1"}, hubs=[{"type": "WebSub", "url": "https://hub.example/"}]),
        {".hub": "https://hub.example/"},
    ),
    ("a language", jfeed({"id": "1"}, language="de"), {".language": "de"}),
    ("no items", _items(), {"n": 0, ".title": "H"}),
    (
        "items is not a list",
        json.dumps({"version": "https://jsonfeed.org/version/1", "items": {}}).encode(),
        {"error": "UnsupportedContent"},
    ),
    ("other JSON", b'{"a": [1, 2]}', {"error": "UnsupportedContent"}),
    ("a list", b'[{"id": 1}]', {"error": "UnsupportedContent"}),
    ("broken JSON", b'{"version": "https://jsonfeed.org/version/1", "items": [', {"error": "UnsupportedContent"}),
    ("a script", jfeed({"id": "1", "content_html": "<script>x</script><p>a</p>"}), {"text": "a"}),
    ("a javascript: address", jfeed({"id": "1", "url": "javascript:x"}), {"url": None}),
    (
        "deep nesting",
        b'{"version": "https://jsonfeed.org/version/1", "items": ' + b"[" * 100_000,
        {"error": "UnsupportedContent"},
    ),
    (
        "a lone surrogate",
        b'{"version": "https://jsonfeed.org/version/1", "items": [{"id": "1", "title": "a\\ud800b"}]}',
        {"n": 1},
    ),
]
