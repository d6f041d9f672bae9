"""The pages of the demo library, from their texts in `texts/`, as a site would send them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final

import yaml

_FOLDER: Final = Path(__file__).parent / "texts"
_LANGUAGES: Final = {"english": "en", "german": "de", "spanish": "es", "arabic": "ar", "japanese": "ja"}
"""File name to language."""


@dataclass(frozen=True, slots=True)
class DemoPage:
    """A page of the demo library, and what its user has done with it."""

    language: str
    fields: Mapping[str, Any]
    """As in the file: `kind`, `title`, `body` or `posts` or `entries`..."""

    @property
    def url(self) -> str:
        """Its address, below a name that can never exist on the internet."""
        return str(self.fields["url"])

    @property
    def origin(self) -> str:
        """The first part of its address."""
        return "/".join(self.url.split("/")[:3])

    @property
    def picture_url(self) -> str | None:
        """The address of its picture, if it has one."""
        picture = self.fields.get("picture")
        return f"{self.origin}/pictures/{picture['scene']}-{picture['palette']}.png" if picture else None

    @property
    def saved_at(self) -> str:
        """When it was saved."""
        return _to_time(str(self.fields["saved"]))

    @property
    def opened_at(self) -> str | None:
        """When it was last read; `None` for an unread page."""
        return _to_time(str(self.fields["opened"])) if "opened" in self.fields else None


def _to_time(text: str) -> str:
    day, time = text.split()[:2]
    return f"{day}T{time[:5]}:00.000000Z"


@cache
def load_pages() -> tuple[DemoPage, ...]:
    """Return the pages of the demo library, oldest saved first."""
    pages = [
        DemoPage(language, fields)
        for name, language in _LANGUAGES.items()
        for fields in yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    ]
    return tuple(sorted(pages, key=lambda page: page.saved_at))


_TYPES: Final = {
    "article": "BlogPosting",
    "documentation": "TechArticle",
    "forum": "DiscussionForumPosting",
    "product": "Product",
    "collection": "CollectionPage",
    "listing": "SearchResultsPage",
    "service": "Service",
}
"""The type that a page of each kind gives itself (schema.org)."""


def write_html(page: DemoPage) -> str:
    """Return the page as HTML."""
    fields = page.fields
    title, site = escape(fields["title"]), escape(fields["site"])
    direction = ' dir="rtl"' if page.language == "ar" else ""
    return (
        f'<!doctype html>\n<html lang="{page.language}"{direction}>\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title} | {site}</title>\n{''.join(f'{line}{chr(10)}' for line in _head(page))}</head>\n<body>\n"
        f'<header class="site-header"><a class="logo" href="{page.origin}/">{site}</a>'
        f'<nav class="menu"><ul><li><a href="{page.origin}/">{site}</a></li>'
        f'<li><a href="{page.origin}/more">…</a></li></ul></nav></header>\n'
        f"<main>\n{_BODIES.get(fields['kind'], _write_article)(page)}\n</main>\n"
        f'<footer class="site-footer"><a href="{page.origin}/imprint">© {site}</a></footer>\n</body>\n</html>\n'
    )


def _head(page: DemoPage) -> Iterator[str]:
    fields = page.fields
    data: dict[str, Any] = {"@context": "https://schema.org", "@type": _TYPES[fields["kind"]], "name": fields["title"]}
    if fields["kind"] in ("article", "documentation", "forum"):
        data |= {"headline": fields["title"], "datePublished": str(fields["published"])}
    if fields.get("author"):
        data["author"] = {"@type": "Person", "name": fields["author"]}
    if fields.get("price"):
        data["offers"] = {"@type": "Offer", "price": fields["price"], "priceCurrency": fields.get("currency", "EUR")}
    named = {"og:title": fields["title"], "og:site_name": fields["site"], "og:description": fields["description"]}
    if page.picture_url:
        named["og:image"] = page.picture_url
    if fields["kind"] in ("article", "documentation"):
        named["article:published_time"] = str(fields["published"])
    yield f'<link rel="canonical" href="{page.url}">'
    yield f'<meta name="description" content="{escape(fields["description"])}">'
    yield from (f'<meta property="{name}" content="{escape(value)}">' for name, value in named.items())
    yield f'<script type="application/ld+json">{json.dumps(data, ensure_ascii=False)}</script>'


def _write_article(page: DemoPage) -> str:
    fields = page.fields
    author = (
        f'<a rel="author" href="{page.origin}/people">{escape(fields["author"])}</a>, ' if "author" in fields else ""
    )
    day = f'<p class="byline">{author}<time datetime="{fields["published"]}">{fields["published"]}</time></p>'
    body = fields["body"].replace("{picture}", _figure(page))
    return f'<article class="post"><h1>{escape(fields["title"])}</h1>{day}\n<div class="post-content">{body}</div></article>'


def _write_plain(page: DemoPage) -> str:
    return f"<h1>{escape(page.fields['title'])}</h1>\n{_figure(page)}\n<div>{page.fields['body']}</div>"


def _write_product(page: DemoPage) -> str:
    fields = page.fields
    price = f'<p class="price">{fields["price"]} {fields.get("currency", "EUR")}</p>'
    return (
        f'<div class="product"><h1>{escape(fields["title"])}</h1>\n{_figure(page)}\n{price}\n'
        f'<form action="/cart"><button class="add-to-cart">+</button></form>\n'
        f'<div class="product-description">{fields["body"]}</div></div>'
    )


def _write_forum(page: DemoPage) -> str:
    posts = "\n".join(
        f'<article class="post" id="post-{number}"><header><span class="username author">{escape(post["author"])}</span> '
        f'<time datetime="{post["date"]}">{post["date"]}</time></header>'
        f'<div class="post-body"><p>{escape(post["text"])}</p></div></article>'
        for number, post in enumerate(page.fields["posts"], 1)
    )
    return f'<h1>{escape(page.fields["title"])}</h1>\n<div class="thread">{posts}</div>'


def _write_entries(page: DemoPage) -> str:
    def card(entry: Mapping[str, str], number: int) -> str:
        price = f'<p class="price">{entry["price"]} EUR</p>' if "price" in entry else ""
        link = f'<h2><a href="{page.url}/{number}">{escape(entry["title"])}</a></h2>'
        return f'<article class="card">{link}<p>{escape(entry["text"])}</p>{price}</article>'

    cards = "\n".join(card(entry, number) for number, entry in enumerate(page.fields["entries"], 1))
    intro = f"<p>{escape(page.fields['intro'])}</p>"
    return f'<h1>{escape(page.fields["title"])}</h1>\n{intro}\n{_figure(page)}\n<div class="cards">{cards}</div>'


def _figure(page: DemoPage) -> str:
    picture, url = page.fields.get("picture"), page.picture_url
    if not picture or not url:
        return ""
    caption = f"<figcaption>{escape(picture['caption'])}</figcaption>" if "caption" in picture else ""
    return f'<figure><img src="{url}" alt="{escape(picture["alt"])}" width="960" height="540">{caption}</figure>'


_BODIES: Final[dict[str, Callable[[DemoPage], str]]] = {
    "product": _write_product,
    "forum": _write_forum,
    "collection": _write_entries,
    "listing": _write_entries,
    "service": _write_plain,
}
