"""Quirks of feeds, each as a small document and what must come out of it; all written by us.

`expect` names fields of the first entry; those with a dot are of the feed (`.title`), `text` is its Markdown, `n` the number
of entries. A value that ends in `…` is the beginning of what is expected.
"""

from __future__ import annotations

import json
from typing import Any

Case = tuple[str, bytes, dict[str, Any]]
URL = "https://example.com/blog/feed.xml"
NS = (
    'xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" '
    'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/" '
    'xmlns:slash="http://purl.org/rss/1.0/modules/slash/" xmlns:georss="http://www.georss.org/georss" '
    'xmlns:yt="http://www.youtube.com/xml/schemas/2015" xmlns:thr="http://purl.org/syndication/thread/1.0" '
    'xmlns:dcterms="http://purl.org/dc/terms/"'
)
XHTML = 'xmlns="http://www.w3.org/1999/xhtml"'


def rss(item: str, channel: str = "<title>Harbour</title>", version: str = "2.0") -> bytes:
    return f'<?xml version="1.0"?><rss version="{version}" {NS}><channel>{channel}<item>{item}</item></channel></rss>'.encode()


def atom(entry: str, feed: str = "<title>Harbour</title>", extra: str = "") -> bytes:
    opening = f'<feed xmlns="http://www.w3.org/2005/Atom" {NS.replace("xmlns:atom", "xmlns:a10")} {extra}>'
    return f'<?xml version="1.0" encoding="utf-8"?>{opening}{feed}<entry>{entry}</entry></feed>'.encode()


def jfeed(item: dict[str, Any], **feed: Any) -> bytes:
    top = {"version": "https://jsonfeed.org/version/1.1", "title": "Harbour", "items": [item]}
    return json.dumps(top | feed).encode()


_DATES = {
    # RFC 822 and what passes for it
    "Wed, 19 Mar 2025 10:30:00 GMT": "2025-03-19T10:30:00",
    "Wed, 19 Mar 2025 10:30:00 +0200": "2025-03-19T08:30:00",
    "Wed, 19 Mar 2025 10:30 GMT": "2025-03-19T10:30:00",
    "19 Mar 2025 10:30:00 EST": "2025-03-19T15:30:00",
    "19 Mar 25 10:30:00 GMT": "2025-03-19T10:30:00",
    "Wed, 19 March 2025 10:30:00 +0000": "2025-03-19T10:30:00",
    "Wednesday, 19 March 2025 10:30:00 GMT": "2025-03-19T10:30:00",
    "Thu, 19 Mar 2025 10:30:00 GMT": "2025-03-19T10:30:00",  # a wrong weekday
    "Wed,19 Mar 2025 10:30:00 GMT": "2025-03-19T10:30:00",
    "Wed, 19 Mar 2025 10:30:00 Z": "2025-03-19T10:30:00",
    "Wed, 19 Mar 2025 10:30:00 UT": "2025-03-19T10:30:00",
    "Wed, 19 Mar 2025 10:30:00 PDT": "2025-03-19T17:30:00",
    "Wed, 19 Mar 2025": "2025-03-19T00:00:00",
    "19 March 2025": "2025-03-19T00:00:00",
    "  Wed, 19 Mar 2025\n 10:30:00 GMT ": "2025-03-19T10:30:00",
    "Wed, 19 Mar 2025 25:00:00 GMT": "2025-03-19T00:00:00",  # an hour that does not exist
    "March 19, 2025": "2025-03-19T00:00:00",
    "March 19th, 2025 10:30 AM": "2025-03-19T10:30:00",
    "Mar 19, 2025 1:05 PM": "2025-03-19T13:05:00",
    # W3C and ISO 8601
    "2025-03-19T10:30:00Z": "2025-03-19T10:30:00",
    "2025-03-19T10:30:00z": "2025-03-19T10:30:00",
    "2025-03-19T10:30:00+05:30": "2025-03-19T05:00:00",
    "2025-03-19T10:30:00+0530": "2025-03-19T05:00:00",
    "2025-03-19T10:30:00.123456Z": "2025-03-19T10:30:00",
    "2025-03-19T10:30Z": "2025-03-19T10:30:00",
    "2025-03-19 10:30:00": "2025-03-19T10:30:00",
    "2025-03-19 10:30:00 UTC": "2025-03-19T10:30:00",
    "2025-03-19 10:30:00 +0100": "2025-03-19T09:30:00",
    "2025-03-19T10:30:00": "2025-03-19T10:30:00",
    "2025-03-19": "2025-03-19T00:00:00",
    "20250319": "2025-03-19T00:00:00",
    "2025/03/19 10:30": "2025-03-19T10:30:00",
    "2025-03": "2025-03-01T00:00:00",
    # others
    "Wed Mar 19 10:30:00 2025": "2025-03-19T10:30:00",
    "Wed Mar 19 10:30:00 GMT 2025": "2025-03-19T10:30:00",
    "1742380200": "2025-03-19T10:30:00",
    "1742380200000": "2025-03-19T10:30:00",
    "2025年3月19日": "2025-03-19T00:00:00",
    # not dates
    "yesterday": None,
    "": None,
    "0000-00-00T00:00:00Z": None,
    "Thu, 01 Jan 1950 00:00:00 GMT": None,
    "99999999999999999999": None,
    "Wed, 99 Foo 2025 10:30:00 GMT": None,
}
DATES: list[Case] = [
    (f"date {text!r}", rss(f"<title>t</title><pubDate>{text}</pubDate>"), {"published_at": expected and f"{expected}…"})
    for text, expected in _DATES.items()
] + [
    ("dc:date", rss("<title>t</title><dc:date>2025-03-19</dc:date>"), {"published_at": "2025-03-19T…"}),
    (
        "dcterms:created",
        rss("<title>t</title><dcterms:created>2025-03-19</dcterms:created>"),
        {"published_at": "2025-03-19T…"},
    ),
    (
        "dcterms:modified",
        rss("<title>t</title><dcterms:modified>2025-03-19</dcterms:modified>"),
        {"published_at": "2025-03-19T…"},
    ),
    (
        "Atom prefers published",
        atom(
            "<title>t</title><id>1</id><updated>2025-04-01T00:00:00Z</updated><published>2025-03-19T00:00:00Z</published>"
        ),
        {"published_at": "2025-03-19T…"},
    ),
    (
        "Atom falls back to updated",
        atom("<title>t</title><id>1</id><updated>2025-04-01T00:00:00Z</updated>"),
        {"published_at": "2025-04-01T…"},
    ),
    (
        "Atom 0.3 issued",
        b'<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>H</title><entry><title>t</title><issued>2025-03-19T10:30:00Z</issued><modified>2025-04-01T00:00:00Z</modified></entry></feed>',
        {"published_at": "2025-03-19T10:30…", ".format": "atom03"},
    ),
    (
        "a bad date beside a good one",
        atom("<title>t</title><id>1</id><published>soon</published><updated>2025-04-01T00:00:00Z</updated>"),
        {"published_at": "2025-04-01T…"},
    ),
    (
        "a date in the future stays a date",
        rss("<title>t</title><pubDate>Sat, 19 Mar 2101 10:30:00 GMT</pubDate>"),
        {"published_at": "2101-03-19T…"},
    ),
    (
        "two dates",
        rss(
            "<title>t</title><pubDate>Wed, 19 Mar 2025 10:30:00 GMT</pubDate><pubDate>Thu, 20 Mar 2025 10:30:00 GMT</pubDate>"
        ),
        {"published_at": "2025-03-…"},
    ),
]

TITLES: list[Case] = [
    ("an entity", rss("<title>Salt &amp; rope</title>"), {"title": "Salt & rope"}),
    ("escaped twice", rss("<title>Salt &amp;amp; rope</title>"), {"title": "Salt & rope"}),
    ("escaped thrice", rss("<title>Salt &amp;amp;amp; rope</title>"), {"title": "Salt & rope"}),
    ("escaped markup", rss("<title>The &lt;em&gt;old&lt;/em&gt; pier</title>"), {"title": "The old pier"}),
    ("CDATA", rss("<title><![CDATA[Salt & rope]]></title>"), {"title": "Salt & rope"}),
    ("CDATA with markup", rss("<title><![CDATA[The <b>old</b> pier]]></title>"), {"title": "The old pier"}),
    (
        "CDATA with an entity",
        rss("<title><![CDATA[Salt &amp; rope &#8211; all]]></title>"),
        {"title": "Salt & rope – all"},
    ),
    ("real markup", rss("<title>The <em>old</em> pier</title>"), {"title": "The old pier"}),
    ("a type parameter is not markup", rss("<title>vector&lt;int&gt; in use</title>"), {"title": "vector<int> in use"}),
    ("a comparison is not markup", rss("<title>1 &lt; 2 and 3 &gt; 2</title>"), {"title": "1 < 2 and 3 > 2"}),
    ("an HTML entity that XML lacks", rss("<title>Caf&eacute; du port</title>"), {"title": "Café du port"}),
    ("nbsp", rss("<title>The&nbsp;pier</title>"), {"title": "The pier"}),
    ("numeric entities", rss("<title>Don&#8217;t &#x2014; now</title>"), {"title": "Don’t — now"}),
    ("a bare ampersand", rss("<title>Salt & rope</title>"), {"title": "Salt & rope"}),
    ("lines and tabs", rss("<title>\n\t The\n  pier\t</title>"), {"title": "The pier"}),
    (
        "empty: from the text",
        rss("<title></title><description>The ferry is late again.</description>"),
        {"title": "The ferry is late again."},
    ),
    (
        "missing: from the text, cut at a word",
        rss(f"<description>{'ferry ' * 40}</description>"),
        {"title": "ferry ferry ferry ferry ferry ferry ferry ferry ferry ferry ferry ferry ferry…"},
    ),
    ("missing text too: the address", rss("<link>https://example.com/a</link>"), {"title": "https://example.com/a"}),
    ("nothing at all", rss("<category>x</category>"), {"title": "Untitled"}),
    ("Atom text", atom("<id>1</id><title>1 &lt; 2</title>"), {"title": "1 < 2"}),
    (
        "Atom html",
        atom('<id>1</id><title type="html">The &lt;i&gt;old&lt;/i&gt; pier &amp;amp; more</title>'),
        {"title": "The old pier & more"},
    ),
    (
        "Atom xhtml",
        atom(f'<id>1</id><title type="xhtml"><div {XHTML}>The <i>old</i> pier</div></title>'),
        {"title": "The old pier"},
    ),
    (
        "Atom base64 title",
        atom('<id>1</id><title type="text/plain" mode="base64">VGhlIHBpZXI=</title>'),
        {"title": "…"},
    ),
    (
        "media:title does not replace the title",
        rss("<title>Mine</title><media:title>Other</media:title>"),
        {"title": "Mine"},
    ),
    ("itunes:title alone", rss("<itunes:title>Episode 1</itunes:title>"), {"title": "…"}),
    ("emoji", rss("<title>⚓ The pier 🛟</title>"), {"title": "⚓ The pier 🛟"}),
    ("right to left", rss("<title>הנמל הישן</title>"), {"title": "הנמל הישן"}),
    ("a script in the title", rss("<title>&lt;script&gt;alert(1)&lt;/script&gt;The pier</title>"), {"title": "…"}),
    (
        "the feed's title has markup",
        rss("<title>t</title>", "<title>&lt;b&gt;Harbour&lt;/b&gt; &amp;amp; sea</title>"),
        {".title": "Harbour & sea"},
    ),
    (
        "the image's title is not the feed's",
        rss("<title>t</title>", "<image><title>Logo</title><url>i.png</url></image><title>Harbour</title>"),
        {".title": "Harbour"},
    ),
    (
        "a textInput's title is not the feed's",
        rss("<title>t</title>", "<title>Harbour</title><textInput><title>Search</title></textInput>"),
        {".title": "Harbour"},
    ),
]

LINKS: list[Case] = [
    ("plain", rss("<title>t</title><link>https://example.com/a</link>"), {"url": "https://example.com/a"}),
    ("relative to the feed", rss("<title>t</title><link>a</link>"), {"url": "https://example.com/blog/a"}),
    ("relative to the root", rss("<title>t</title><link>/a</link>"), {"url": "https://example.com/a"}),
    ("without a scheme", rss("<title>t</title><link>//other.example/a</link>"), {"url": "https://other.example/a"}),
    (
        "spaces around",
        rss("<title>t</title><link>\n https://example.com/a \n</link>"),
        {"url": "https://example.com/a"},
    ),
    (
        "CDATA",
        rss("<title>t</title><link><![CDATA[https://example.com/?a=1&b=2]]></link>"),
        {"url": "https://example.com/?a=1&b=2"},
    ),
    (
        "escaped twice",
        rss("<title>t</title><link>https://example.com/?a=1&amp;amp;b=2</link>"),
        {"url": "https://example.com/?a=1&b=2"},
    ),
    (
        "a bare ampersand",
        rss("<title>t</title><link>https://example.com/?a=1&b=2</link>"),
        {"url": "https://example.com/?a=1&b=2"},
    ),
    (
        "only a guid that is a link",
        rss("<title>t</title><guid>https://example.com/a</guid>"),
        {"url": "https://example.com/a"},
    ),
    (
        "a guid that is not a link",
        rss('<title>t</title><guid isPermaLink="false">tag:1</guid>'),
        {"url": None, "guid": "tag:1"},
    ),
    (
        "a guid that says it is not, but is",
        rss('<title>t</title><guid isPermaLink="false">https://example.com/a</guid>'),
        {"url": "https://example.com/a"},
    ),
    (
        "link before guid",
        rss("<title>t</title><guid>https://example.com/?p=1</guid><link>https://example.com/a</link>"),
        {"url": "https://example.com/a"},
    ),
    (
        "atom:link in RSS",
        rss('<title>t</title><atom:link href="https://example.com/a"/>'),
        {"url": "https://example.com/a"},
    ),
    (
        "only an enclosure",
        rss('<title>t</title><enclosure url="https://example.com/a.mp3" type="audio/mpeg" length="1"/>'),
        {"url": "https://example.com/a.mp3"},
    ),
    ("javascript:", rss("<title>t</title><link>javascript:alert(1)</link>"), {"url": None}),
    ("data:", rss("<title>t</title><link>data:text/html,x</link>"), {"url": None}),
    ("mailto:", rss("<title>t</title><link>mailto:a@example.com</link>"), {"url": None}),
    ("ftp:", rss("<title>t</title><link>ftp://example.com/a</link>"), {"url": None}),
    (
        "Atom alternate",
        atom('<id>1</id><title>t</title><link rel="self" href="self"/><link rel="alternate" href="/a"/>'),
        {"url": "https://example.com/a"},
    ),
    (
        "Atom without rel",
        atom('<id>1</id><title>t</title><link href="/a"/><link rel="replies" href="/r"/>'),
        {"url": "https://example.com/a"},
    ),
    ("Atom related only", atom('<id>urn:1</id><title>t</title><link rel="related" href="/r"/>'), {"url": None}),
    (
        "Atom of two alternates the first",
        atom(
            '<id>1</id><title>t</title><link rel="alternate" type="text/html" href="/a"/><link rel="alternate" type="text/html" href="/b"/>'
        ),
        {"url": "https://example.com/a"},
    ),
    (
        "Atom not the JSON alternate",
        atom(
            '<id>1</id><title>t</title><link rel="alternate" type="application/json" href="/a.json"/><link rel="alternate" type="text/html" href="/a"/>'
        ),
        {"url": "https://example.com/a"},
    ),
    ("Atom id as address", atom("<id>https://example.com/a</id><title>t</title>"), {"url": "https://example.com/a"}),
    (
        "xml:base of the feed",
        atom('<id>1</id><title>t</title><link href="a"/>', extra='xml:base="https://other.example/x/"'),
        {"url": "https://other.example/x/a"},
    ),
    (
        "xml:base of the link",
        atom('<id>1</id><title>t</title><link xml:base="https://other.example/y/" href="a"/>'),
        {"url": "https://other.example/y/a"},
    ),
    (
        "nested xml:base",
        atom('<id>1</id><title>t</title><link xml:base="z/" href="a"/>', extra='xml:base="https://other.example/x/"'),
        {"url": "https://other.example/x/z/a"},
    ),
    ("an international host", rss("<title>t</title><link>https://bücher.example/ä</link>"), {"url": "https://…"}),
    (
        "the feed's site",
        rss("<title>t</title>", "<title>H</title><link>https://example.com/</link>"),
        {".site": "https://example.com/"},
    ),
    (
        "the feed's site is not its own address",
        rss(
            "<title>t</title>",
            '<atom:link rel="self" href="https://example.com/feed"/><title>H</title><link>https://example.com/</link>',
        ),
        {".site": "https://example.com/"},
    ),
    ("a relative site", rss("<title>t</title>", "<title>H</title><link>/</link>"), {".site": "https://example.com/"}),
    (
        "a hub",
        rss("<title>t</title>", '<title>H</title><atom:link rel="hub" href="https://hub.example/"/>'),
        {".hub": "https://hub.example/"},
    ),
    (
        "a next page",
        atom("<id>1</id><title>t</title>", '<title>H</title><link rel="next" href="?page=2"/>'),
        {".next_url": "https://example.com/blog/feed.xml?page=2"},
    ),
    (
        "comments",
        rss("<title>t</title><comments>https://example.com/a#c</comments>"),
        {"extra": {"comments": "https://example.com/a#c"}},
    ),
]

_TWO = '<rss version="2.0"><channel><title>H</title><item>{}</item><item>{}</item></channel></rss>'
GUIDS: list[Case] = [
    ("plain", rss("<title>t</title><guid>g-1</guid>"), {"guid": "…g-1", "n": 1}),
    ("spaces", rss('<title>t</title><guid isPermaLink="false"> g-1 </guid>'), {"guid": "g-1"}),
    ("none: the address", rss("<title>t</title><link>https://example.com/a</link>"), {"guid": "https://example.com/a"}),
    (
        "none, no address: title and date",
        rss("<title>t</title><pubDate>2025-03-19</pubDate>"),
        {"guid": "t 2025-03-19…"},
    ),
    ("nothing to go by: the text", rss("<description>x</description>"), {"guid": "…"}),
    (
        "empty",
        rss("<title>t</title><guid></guid><link>https://example.com/a</link>"),
        {"guid": "https://example.com/a"},
    ),
    ("Atom urn", atom("<id>urn:uuid:1</id><title>t</title>"), {"guid": "urn:uuid:1"}),
    ("Atom tag", atom("<id>tag:example.com,2025:1</id><title>t</title>"), {"guid": "tag:example.com,2025:1"}),
    (
        "the same guid twice",
        _TWO.format(
            "<title>a</title><guid isPermaLink='false'>1</guid>", "<title>b</title><guid isPermaLink='false'>1</guid>"
        ).encode(),
        {"n": 2, "guids": ["1  a", "1  b"]},
    ),
    (
        "no guids, one address",
        _TWO.format(
            "<title>a</title><link>https://e.com/</link>", "<title>b</title><link>https://e.com/</link>"
        ).encode(),
        {"n": 2, "guids": ["https://e.com/ a", "https://e.com/ b"]},
    ),
    (
        "one of two without a guid",
        _TWO.format(
            "<title>a</title><guid isPermaLink='false'>1</guid>", "<title>b</title><link>https://e.com/b</link>"
        ).encode(),
        {"guids": ["1", "https://e.com/b"]},
    ),
    ("a very long guid", rss(f'<title>t</title><guid isPermaLink="false">{"g" * 5000}</guid>'), {"guid": "…"}),
    ("a number in JSON", jfeed({"id": 7, "content_text": "x"}), {"guid": "7"}),
]

BODIES: list[Case] = [
    (
        "escaped HTML",
        rss("<title>t</title><description>&lt;p&gt;The &lt;b&gt;old&lt;/b&gt; pier.&lt;/p&gt;</description>"),
        {"text": "The **old** pier."},
    ),
    (
        "CDATA",
        rss("<title>t</title><description><![CDATA[<p>The <b>old</b> pier.</p>]]></description>"),
        {"text": "The **old** pier."},
    ),
    (
        "real elements",
        rss("<title>t</title><description><p>The <b>old</b> pier.</p></description>"),
        {"text": "The **old** pier."},
    ),
    (
        "escaped twice",
        rss("<title>t</title><description>&amp;lt;p&amp;gt;The pier.&amp;lt;/p&amp;gt;</description>"),
        {"text": "The pier."},
    ),
    ("plain text", rss("<title>t</title><description>The pier.</description>"), {"text": "The pier."}),
    (
        "plain text with signs",
        rss("<title>t</title><description>1 &lt; 2 &amp; more</description>"),
        {"text": "1 < 2 & more"},
    ),
    (
        "content:encoded before description",
        rss(
            "<title>t</title><description>Short.</description><content:encoded><![CDATA[<p>Whole.</p>]]></content:encoded>"
        ),
        {"text": "Whole."},
    ),
    (
        "an empty content:encoded",
        rss("<title>t</title><description>Short.</description><content:encoded></content:encoded>"),
        {"text": "Short."},
    ),
    (
        "Atom content before summary",
        atom(
            '<id>1</id><title>t</title><summary>Short.</summary><content type="html">&lt;p&gt;Whole.&lt;/p&gt;</content>'
        ),
        {"text": "Whole."},
    ),
    (
        "Atom xhtml",
        atom(f'<id>1</id><title>t</title><content type="xhtml"><div {XHTML}><p>The <em>pier</em>.</p></div></content>'),
        {"text": "The *pier*."},
    ),
    (
        "Atom text",
        atom('<id>1</id><title>t</title><content type="text">One.\n\nTwo.</content>'),
        {"text": "One.\n\nTwo."},
    ),
    (
        "Atom text/html",
        atom('<id>1</id><title>t</title><content type="text/html">&lt;p&gt;The pier.&lt;/p&gt;</content>'),
        {"text": "The pier."},
    ),
    (
        "Atom content elsewhere",
        atom('<id>1</id><title>t</title><content src="https://example.com/a"/><summary>Short.</summary>'),
        {"text": "Short."},
    ),
    ("summary only", atom("<id>1</id><title>t</title><summary>Short.</summary>"), {"text": "Short."}),
    (
        "HTML rather than plain text of two contents",
        rss("<title>t</title><content:encoded><![CDATA[<p>One</p>]]></content:encoded>"),
        {"text": "One"},
    ),
    (
        "relative addresses: the entry's",
        rss(
            '<title>t</title><link>https://example.com/a/</link><description>&lt;a href="b"&gt;b&lt;/a&gt;</description>'
        ),
        {"text": "[b](https://example.com/…"},
    ),
    (
        "relative pictures",
        rss('<title>t</title><content:encoded><![CDATA[<p>x</p><img src="/i.png" alt="i">]]></content:encoded>'),
        {"text": "x\n\n[![i](https://example.com/i.png)…"},
    ),
    (
        "xml:base for the content",
        atom(
            '<id>1</id><title>t</title><content type="html" xml:base="https://other.example/x/">&lt;a href="b"&gt;b&lt;/a&gt;</content>'
        ),
        {"text": "[b](https://other.example/x/b)"},
    ),
    (
        "a script",
        rss("<title>t</title><description><![CDATA[<p>a</p><script>alert(1)</script>]]></description>"),
        {"text": "a"},
    ),
    (
        "a style",
        rss("<title>t</title><description><![CDATA[<style>p{}</style><p>a</p>]]></description>"),
        {"text": "a"},
    ),
    (
        "an event handler and a bad link",
        rss('<title>t</title><description><![CDATA[<a href="javascript:x" onclick="y">a</a>]]></description>'),
        {"text": "a"},
    ),
    (
        "a list",
        rss("<title>t</title><description><![CDATA[<ul><li>a</li><li>b</li></ul>]]></description>"),
        {"text": "- a\n- b"},
    ),
    (
        "code",
        rss("<title>t</title><description><![CDATA[<pre><code>a &lt; b</code></pre>]]></description>"),
        {"text": "```\na < b\n```"},
    ),
    (
        "a table",
        rss(
            "<title>t</title><description><![CDATA[<table><tr><th>a</th><th>b</th></tr><tr><td>c</td><td>d</td></tr></table>]]></description>"
        ),
        {"text": "| a | b |…"},
    ),
    (
        "a tracking picture",
        rss(
            '<title>t</title><description><![CDATA[<p>a</p><img src="https://t.example/p.gif" width="1" height="1">]]></description>'
        ),
        {"text": "a"},
    ),
    (
        "a whole document",
        rss(
            "<title>t</title><description><![CDATA[<html><head><title>x</title></head><body><p>a</p></body></html>]]></description>"
        ),
        {"text": "a"},
    ),
    (
        "unclosed tags",
        rss("<title>t</title><description><![CDATA[<p>a<p>b <b>c]]></description>"),
        {"text": "a\n\nb **c**"},
    ),
    ("line breaks", rss("<title>t</title><description><![CDATA[a<br>b]]></description>"), {"text": "a\\\nb"}),
    (
        "media:description",
        rss("<title>t</title><media:group><media:description>Of a film.</media:description></media:group>"),
        {"text": "Of a film."},
    ),
    ("itunes:summary", rss("<title>t</title><itunes:summary>Of a talk.</itunes:summary>"), {"text": "Of a talk."}),
    ("nothing", rss("<title>t</title>"), {"text": ""}),
    (
        "a nested CDATA end",
        rss("<title>t</title><description><![CDATA[<p>a]]]]><![CDATA[>b</p>]]></description>"),
        {"text": "a]]>b"},
    ),
    (
        "markup in a foreign namespace",
        rss('<title>t</title><x:body xmlns:x="urn:x">no</x:body><description>yes</description>'),
        {"text": "yes"},
    ),
    (
        "Blogger's thread elements",
        atom("<id>1</id><title>t</title><thr:total>5</thr:total><summary>s</summary>"),
        {"text": "s"},
    ),
]

AUTHORS: list[Case] = [
    (
        "mail and name",
        rss("<title>t</title><author>ada@example.com (Ada Lovelace)</author>"),
        {"author": "Ada Lovelace"},
    ),
    (
        "name and mail",
        rss("<title>t</title><author>Ada Lovelace &lt;ada@example.com&gt;</author>"),
        {"author": "Ada Lovelace"},
    ),
    ("name alone", rss("<title>t</title><author>Ada Lovelace</author>"), {"author": "Ada Lovelace"}),
    ("mail alone", rss("<title>t</title><author>ada@example.com</author>"), {"author": None}),
    ("dc:creator", rss("<title>t</title><dc:creator>Ada</dc:creator>"), {"author": "Ada"}),
    (
        "dc:creator in CDATA",
        rss("<title>t</title><dc:creator><![CDATA[Ada & Bob]]></dc:creator>"),
        {"author": "Ada & Bob"},
    ),
    ("two creators", rss("<title>t</title><dc:creator>Ada</dc:creator><dc:creator>Bob</dc:creator>"), {"author": "…"}),
    ("itunes:author", rss("<title>t</title><itunes:author>Ada</itunes:author>"), {"author": "Ada"}),
    (
        "Atom",
        atom("<id>1</id><title>t</title><author><name>Ada</name><email>a@example.com</email></author>"),
        {"author": "Ada"},
    ),
    (
        "two Atom authors",
        atom("<id>1</id><title>t</title><author><name>Ada</name></author><author><name>Bob</name></author>"),
        {"author": "Ada, Bob"},
    ),
    (
        "an Atom author without a name",
        atom("<id>1</id><title>t</title><author><email>a@example.com</email></author>"),
        {"author": None},
    ),
    ("markup in the name", rss("<title>t</title><dc:creator>&lt;b&gt;Ada&lt;/b&gt;</dc:creator>"), {"author": "Ada"}),
    ("empty", rss("<title>t</title><author></author>"), {"author": None}),
    (
        "JSON authors",
        jfeed({"id": "1", "authors": [{"name": "Ada"}, {"url": "x"}, {"name": "Bob"}]}),
        {"author": "Ada, Bob"},
    ),
    ("JSON 1.0 author", jfeed({"id": "1", "author": {"name": "Ada"}}), {"author": "Ada"}),
    ("JSON author of the feed", jfeed({"id": "1"}, authors=[{"name": "Ada"}]), {"author": "Ada"}),
]

MEDIA: list[Case] = [
    (
        "an enclosure",
        rss('<title>t</title><enclosure url="https://e.com/a.mp3" type="audio/mpeg" length="12"/>'),
        {"extra": {"enclosures": [{"url": "https://e.com/a.mp3", "type": "audio/mpeg", "bytes": "12"}]}},
    ),
    (
        "a relative enclosure",
        rss('<title>t</title><enclosure url="/a.mp3" type="audio/mpeg"/>'),
        {"extra": {"enclosures": [{"url": "https://example.com/a.mp3", "type": "audio/mpeg"}]}},
    ),
    (
        "a length that is not one",
        rss('<title>t</title><enclosure url="https://e.com/a.mp3" length="big"/>'),
        {"extra": {"enclosures": [{"url": "https://e.com/a.mp3"}]}},
    ),
    ("an enclosure without an address", rss('<title>t</title><enclosure type="audio/mpeg"/>'), {"extra": {}}),
    (
        "several enclosures, one twice",
        rss(
            '<title>t</title><enclosure url="https://e.com/a.mp3"/><enclosure url="https://e.com/b.mp3"/><enclosure url="https://e.com/a.mp3"/>'
        ),
        {"extra": {"enclosures": [{"url": "https://e.com/a.mp3"}, {"url": "https://e.com/b.mp3"}]}},
    ),
    (
        "media:content",
        rss('<title>t</title><media:content url="https://e.com/v.mp4" type="video/mp4" fileSize="9"/>'),
        {"extra": {"enclosures": [{"url": "https://e.com/v.mp4", "type": "video/mp4", "bytes": "9"}]}},
    ),
    (
        "media:thumbnail",
        rss('<title>t</title><media:thumbnail url="https://e.com/t.jpg"/>'),
        {"extra": {"image": "https://e.com/t.jpg"}},
    ),
    (
        "itunes:image",
        rss('<title>t</title><itunes:image href="https://e.com/i.jpg"/>'),
        {"extra": {"image": "https://e.com/i.jpg"}},
    ),
    (
        "itunes:duration",
        rss("<title>t</title><itunes:duration>1:02:03</itunes:duration>"),
        {"extra": {"duration": "1:02:03"}},
    ),
    (
        "an Atom enclosure",
        atom(
            '<id>1</id><title>t</title><link href="/a"/><link rel="enclosure" href="/a.ogg" type="audio/ogg" length="3"/>'
        ),
        {
            "url": "https://example.com/a",
            "extra": {"enclosures": [{"url": "https://example.com/a.ogg", "type": "audio/ogg", "bytes": "3"}]},
        },
    ),
    (
        "a video channel",
        atom(
            '<id>yt:video:x</id><yt:videoId>x</yt:videoId><title>t</title><link rel="alternate" href="https://v.example/watch?v=x"/><media:group><media:title>t</media:title><media:thumbnail url="https://v.example/x.jpg"/><media:description>About.</media:description></media:group>'
        ),
        {
            "guid": "yt:video:x",
            "url": "https://v.example/watch?v=x",
            "text": "About.",
            "extra": {"image": "https://v.example/x.jpg"},
        },
    ),
    (
        "a JSON attachment",
        jfeed({"id": "1", "attachments": [{"url": "a.mp3", "mime_type": "audio/mpeg", "size_in_bytes": 5}, "x"]}),
        {"extra": {"enclosures": [{"url": "https://example.com/blog/a.mp3", "type": "audio/mpeg", "bytes": "5"}]}},
    ),
    ("a JSON image", jfeed({"id": "1", "image": "/i.png"}), {"extra": {"image": "https://example.com/i.png"}}),
]

CATEGORIES: list[Case] = [
    (
        "several",
        rss("<title>t</title><category>Sea</category><category>Air</category><category>Sea</category>"),
        {"extra": {"categories": ["Sea", "Air"]}},
    ),
    ("dc:subject", rss("<title>t</title><dc:subject>Sea</dc:subject>"), {"extra": {"categories": ["Sea"]}}),
    (
        "with a domain",
        rss('<title>t</title><category domain="urn:x">Sea</category>'),
        {"extra": {"categories": ["Sea"]}},
    ),
    (
        "an Atom label",
        atom('<id>1</id><title>t</title><category term="s" label="Sea"/>'),
        {"extra": {"categories": ["Sea"]}},
    ),
    (
        "an Atom term",
        atom('<id>1</id><title>t</title><category term="sea" scheme="urn:x"/>'),
        {"extra": {"categories": ["sea"]}},
    ),
    ("empty", rss("<title>t</title><category></category>"), {"extra": {}}),
    (
        "CDATA and entities",
        rss("<title>t</title><category><![CDATA[Sea &amp; air]]></category>"),
        {"extra": {"categories": ["Sea & air"]}},
    ),
    ("itunes:keywords", rss("<title>t</title><itunes:keywords>sea, air</itunes:keywords>"), {"title": "t"}),
    ("JSON tags", jfeed({"id": "1", "tags": ["Sea", 1, None, "Air", ""]}), {"extra": {"categories": ["Sea", "Air"]}}),
]
