"""Export the library as one HTML page that loads nothing from the network."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterable
from html import escape
from tempfile import TemporaryFile
from typing import BinaryIO, Final

from pagekeep import dom
from pagekeep.library.exports.article_html import build_article, picture_urls
from pagekeep.library.exports.pictures import Picture, PictureFetcher
from pagekeep.library.exports.selection import SelectedItem
from pagekeep.model import Item

_MAX_ARTICLE_BYTES: Final = 50_000_000
"""Pictures that are embedded in one article."""
_STYLESHEET: Final = """
:root { color-scheme: light dark }
body { max-width: 42rem; margin: 2rem auto; padding: 0 1rem; font: 1.1rem/1.6 Georgia, serif; overflow-wrap: break-word }
article { border-top: 1px solid #8886; margin-top: 4rem; padding-top: 1rem }
img { max-width: 100%; height: auto }
pre, div.table { overflow-x: auto }
pre, code { font-size: .9rem }
table { border-collapse: collapse } th, td { border: 1px solid #8886; padding: .2rem .5rem }
blockquote { border-left: 3px solid #8886; margin-left: 0; padding-left: 1rem }
.from, figcaption { opacity: .75; font-size: .95rem }
"""
_HEAD: Final = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">"
    '<meta name="referrer" content="no-referrer">'
    f"<title>Saved pages</title><style>{_STYLESHEET}</style></head>\n<body><h1>Saved pages</h1>\n<nav><ol>\n"
)


async def write_page(out: BinaryIO, items: Iterable[SelectedItem], pictures: PictureFetcher | None) -> None:
    """Write a table of contents and all items; pictures are embedded in the page, those that are missing become links."""
    out.write(_HEAD.encode())
    with TemporaryFile() as articles:
        for number, selected in enumerate(items, start=1):
            item = selected.item
            fetched = await pictures.fetch(picture_urls(item)) if pictures else {}
            data_urls = {
                url: f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode()}"
                for url, picture in _choose(item, fetched).items()
            }
            title = escape(" ".join(item.title.split()) or item.url)
            out.write(f'<li><a href="#p{number}">{title}</a></li>\n'.encode("utf-8", "replace"))
            articles.write(_article_html(number, selected, data_urls).encode("utf-8", "replace"))
        out.write(b"</ol></nav>\n<main>\n")
        articles.seek(0)
        shutil.copyfileobj(articles, out)
    out.write(b"</main></body></html>\n")


def _choose(item: Item, pictures: dict[str, Picture]) -> dict[str, Picture]:
    """Return the pictures to embed: one that an article shows many times would be embedded as often."""
    chosen, room, text = {}, _MAX_ARTICLE_BYTES, item.content
    for url, picture in pictures.items():
        size = len(picture.data) * max(1, text.count(url))
        if size <= room:
            chosen[url] = picture
            room -= size
    return chosen


def _article_html(number: int, selected: SelectedItem, data_urls: dict[str, str]) -> str:
    article = build_article(selected.item, selected.annotations, data_urls, prefix=f"p{number}-")
    language = f' lang="{article.language}"' if article.language else ""
    return (
        f'<article id="p{number}"{language}><h1>{escape(article.title)}</h1>{article.byline}\n'
        f"{dom.inner_html(article.body)}{article.annotations}</article>\n"
    )
