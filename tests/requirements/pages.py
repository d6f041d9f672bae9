"""The pages and the site on which `scripts/check_requirements.py` shows the requirements; all written by us."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Final

from tests.acceptance import test_fallback_chain as chain_pages
from tests.site.fixtures import APP, ARTICLE, WALL
from tests.site.server import Reply, Request, Site

PNG: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360f8cf500f0003860180dbbb8d740000000049454e44ae426082"
)
STORY: Final = chain_pages.STORY
PLACES: Final = {
    "article": "<article>{}</article>",
    "main": "<main>{}</main>",
    "role-main": '<div role="main">{}</div>',
    "role-article": '<div role="article">{}</div>',
    "articleBody": '<div itemprop="articleBody">{}</div>',
    "post-content": '<div class="post-content">{}</div>',
    "entry-content": '<div class="entry-content">{}</div>',
    "article-body": '<div class="article-body">{}</div>',
    "article-text": '<div class="article-text">{}</div>',
    "story-body": '<div class="story-body">{}</div>',
    "content": '<div id="content">{}</div>',
}
RICH: Final = f"""<!doctype html><html lang="en"><head><title>The tower at dusk | Harbour Board</title>
<meta charset="utf-8"><meta property="og:title" content="The tower at dusk">
<meta property="og:site_name" content="Harbour Board"><meta property="og:image" content="https://harbour.example/card.jpg">
<meta name="description" content="How the lamp is lit."><meta name="keywords" content="lamps, towers">
<meta name="twitter:card" content="summary"><meta property="article:section" content="Lights">
<meta name="author" content="Meta Author">
<script type="application/ld+json">{{"@type": "NewsArticle", "headline": "The tower at dusk", "datePublished": "2025-03-19",
"author": {{"name": "Ines Okafor"}}}}</script><style>p {{ color: red }}</style></head><body>
<nav><a href="/">Front page of the board</a></nav><aside class="sidebar">Weather box for sailors</aside>
<article class="shadow unavailable"><h1>The tower at dusk</h1><p class="byline">By Ines Okafor</p>
<figure><img src="/tower.jpg" alt="A tower" width="800" height="600"><figcaption>The tower at dusk.</figcaption></figure>
{STORY}
<p onclick="steal()" style="color: blue">The lamp needs <a href="javascript:alert(1)">oil</a> and <a href="/oil">a wick</a>.</p>
<h2>The log</h2><pre><code class="language-python">def light(lamp):
    return lamp.lit

print("on")</code></pre>
<table><tr><th>day</th><th>oil</th></tr><tr><td>one</td><td>two litres</td></tr></table>
<ul><li>first<ul><li>nested</li></ul></li><li>second</li></ul><blockquote><p>It is never dark.</p></blockquote>
<p>Its reach is <math><mi>r</mi><mo>=</mo><msqrt><mi>h</mi></msqrt></math> in miles.</p>
<iframe src="https://www.youtube.com/embed/abcdefghijk" title="Lighting the lamp"></iframe>
<p><span role="img" aria-label="A lit lamp"></span> The keeper sleeps at noon.</p>
<img src="https://pixel.example/t.gif" width="1" height="1"></article>
<div class="ad">Soap at half the price</div><div data-ad="1">Rope at half the price</div>
<div class="social-share">Tell your friends</div><div class="related">More stories of lamps</div>
<div class="newsletter">Letters every morning</div><div id="comments">First to say so</div>
<footer>Printed by the board</footer><script>counting()</script></body></html>"""
HEAD: Final = chain_pages.HEAD
FILES: Final[dict[str, str | bytes]] = {
    "article.html": RICH,
    "rows.html": f"{HEAD}<body>{chain_pages.NAV}<h1>Stores</h1><article>{chain_pages.ROWS}</article></body>",
    "full.html": f'{HEAD}<body>{chain_pages.NAV}<div class="ad-banner">Soap at half the price</div><div class="shadow">'
    f"{chain_pages.ROWS}</div>{chain_pages.FOOTER}</body>",
    "density.html": f'{HEAD}<body><div id="wall">'
    + "".join(
        f'<div class="tile" data-slot="{i}" style="width: 33%"><span class="label">A sparse tile number {i}.</span></div>'
        for i in range(30)
    )
    + f'</div><div id="store">{chain_pages.LINES}</div></body>',
    "links.html": f"{HEAD}<body><article>"
    + "".join(f'<p><a href="/{i}">A link to page number {i} of the book of tides</a></p>' for i in range(60))
    + "</article></body>",
    "shell.html": HEAD + chain_pages.SHELL,
    "wall.html": WALL,
    "short.html": "<title>Note</title><p>The ferry leaves at nine from the north quay today, not at eight as printed.</p>",
    "untitled.html": f"<article>{STORY}</article>",
    "seed-title.html": '<html><head><meta property="og:title" content="Test Article"><title>Fallback Title</title></head>'
    f"<body><h1>Header</h1>{STORY}</body></html>",
    "html4-strict.html": '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN"><title>x</title>' + STORY,
    "html4-transitional.html": '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN"><title>x</title>'
    + STORY,
    "xhtml.html": '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd"><title>x</title>' + STORY,
    "quirks.html": "<title>x</title>" + STORY,
    "html5.html": "<!doctype html><title>x</title>" + STORY,
    "html5-by-meta.html": '<html><head><meta charset="utf-8"><title>x</title></head><body>' + STORY,
    "author-address.html": f"<!doctype html><title>x</title><article><h1>Oil</h1><address rel=author>Ada Brandt</address>"
    f'<time datetime="2024-05-06">May</time>{STORY}</article>',
    "microdata.html": '<!doctype html><title>x</title><div itemscope itemtype="http://schema.org/Article">'
    '<h1 itemprop="headline">Lamps of the coast</h1><span itemprop="author">Kofi Lund</span>'
    f'<meta itemprop="datePublished" content="2023-02-01"><div itemprop="articleBody">{STORY}</div></div>',
    "latin1.html": '<meta charset="iso-8859-1"><title>Café</title><p>Der Wärter öffnet das Café am Hafen früh.'.encode(
        "latin-1"
    ),
    "chinese.html": '<html lang="zh"><title>灯塔</title><article>'
    + "<p>灯塔看守人每天早晨在早餐前数一数港口的船只，然后写下数字。</p>" * 20,
    "malformed.html": "<p>The keeper <b>counts <i>the ships</b> before breakfast" + "<div><p>and lights the lamp" * 30,
    "scripts.html": "<title>Only scripts</title><script>alert(1)</script>",
    "pictured.html": '<title>Lamp</title><article><img src="/picture" width="600" height="400" alt="Lamp">' + STORY,
    "notes.md": "# Notes\n\n* oil\n* wick\n",
    "swiper.html": f'<!doctype html><title>Boats</title><article><h1>Boats</h1>{STORY}<div class="swiper"><div '
    'class="swiper-slide swiper-slide-duplicate"><p>A twin slide that repeats the first.</p></div></div></article>',
    "bookmarks.html": "<!DOCTYPE NETSCAPE-Bookmark-file-1><TITLE>Bookmarks</TITLE><DL><p>"
    '<DT><A HREF="https://harbour.example/one" ADD_DATE="1700000000" TAGS="sea">One</A></DL>',
    "own/harbour.yaml": """
- id: harbour-pre
  phase: pre
  trigger: {host: {equals: harbour.example}}
  remove: [".byline"]
  metadata: {author: {selector: h1}}
- id: harbour-post
  phase: post
  trigger: {mode: all, host: {ends_with: harbour.example}, dom: {any: [pre]}}
  actions: [{op: retag, selector: h2, tag: h3}]
- id: family
  phase: pre
  trigger: {host: {etld_plus_one: harbour.co.uk}}
  include: [".newsletter"]
- id: scoped
  phase: pre
  trigger: {host: {equals: scoped.example}}
  selector_overrides: {article: blockquote}
- id: spam
  phase: pre
  trigger: {host: {equals: spam.example}}
  discard: true
- id: demanding
  phase: pre
  trigger: {host: {equals: demanding.example}}
  quality: {min_words: 100000}
- id: by-text
  phase: pre
  trigger: {dom: {any_text_contains: ["NEVER DARK"]}}
  remove: [".none"]
""",
    "broken.yaml": "- id: broken\n  phase: pre\n  remov: [p]\n",
    "ck-rules.js": 'var rules = {"harbour.example": {"a": "article", "e": ".related"}};',
}


def write_files(folder: Path) -> None:
    """Write the pages into a folder."""
    files = FILES | {f"places/{name}.html": _place(place) for name, place in PLACES.items()}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def _place(place: str) -> str:
    """Return a page whose text is in one container and whose other text must not be kept."""
    noise = "<div><p>Words of the harbour shop beside it.</p></div>"
    return (
        f"{HEAD}<body>{noise}{place.format(f'<h1>Stores</h1><time datetime=2024-01-02>x</time>{STORY}')}{noise}</body>"
    )


def make_site() -> Site:
    """Return a site with good and bad pages: /article, /app, /status/500/NAME, /after/2/NAME, /slow, /etag, /page/NAME."""
    asked: Counter[str] = Counter()

    async def article(_request: Request, reply: Reply) -> None:
        await reply.send(ARTICLE)

    async def app(_request: Request, reply: Reply) -> None:
        await reply.send(APP)

    async def status(request: Request, reply: Reply) -> None:
        await reply.send("<title>Sorry</title>", status=int(request.path.split("/")[2]))

    async def after(request: Request, reply: Reply) -> None:
        asked[request.path] += 1
        failing = asked[request.path] <= int(request.path.split("/")[2])
        await reply.send("" if failing else ARTICLE, status=500 if failing else 200)

    async def slow(_request: Request, _reply: Reply) -> None:
        await asyncio.sleep(60)

    async def etag(request: Request, reply: Reply) -> None:
        same = request.headers.get("if-none-match") == '"v1"'
        await reply.send("" if same else ARTICLE, status=304 if same else 200, etag='"v1"')

    async def echo(request: Request, reply: Reply) -> None:
        lines = "".join(f"<p>{name} is {value}.</p>" for name, value in sorted(request.headers.items()))
        await reply.send(f"<title>Headers</title><article>{lines}{STORY}</article>")

    async def page(request: Request, reply: Reply) -> None:
        await reply.send(FILES[request.path.rpartition("/")[2]])

    async def picture(_request: Request, reply: Reply) -> None:
        await reply.send(PNG, content_type="image/png")

    async def pdf(_request: Request, reply: Reply) -> None:
        await reply.send(b"%PDF-1.4", content_type="application/pdf")

    handlers = {
        "article": article, "app": app, "status": status, "after": after, "slow": slow, "etag": etag, "echo": echo,
        "page": page, "picture": picture, "pdf": pdf,
    }  # fmt: skip
    return Site(handlers)
