"""Run one extractor in a separate process: pages on stdin, plain words and CPU seconds on stdout.

It runs in Pagekeep's environment or in that of the other extractors, so it imports only the standard library until it gets
the extractor's name.
"""

from __future__ import annotations

import html
import importlib.metadata
import json
import re
import struct
import sys
import time
from collections.abc import Callable
from typing import IO, Any

Extract = Callable[[bytes, str, str], Any]
"""The page as bytes, as text and its address, to whatever the extractor gives."""
Words = Callable[[Any], str]
"""What the extractor gave, as plain text. Not timed."""

_SKIPPED = re.compile(r"<(script|style|template|head)\b.*?</\1\s*>", re.S | re.I)
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_INLINE = re.compile(
    r"</?(?:a|abbr|b|bdi|cite|code|em|font|i|kbd|mark|q|s|small|span|strong|sub|sup|u|wbr)\b[^>]*>", re.I
)
_TAG = re.compile(r"<[^>]+>")
_FRONTMATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def words_of_html(markup: str | None) -> str:
    """Return the text between the tags; inline tags do not separate words."""
    bare = _COMMENT.sub(" ", _SKIPPED.sub(" ", markup or ""))
    return html.unescape(_TAG.sub(" ", _INLINE.sub("", bare)))


def words_of_markdown(markdown: str | None) -> str:
    """Return the text without frontmatter, image and link addresses; other Markdown syntax has no words."""
    return _LINK.sub(r"\1", _IMAGE.sub(" ", _FRONTMATTER.sub("", markdown or "")))


def pagekeep() -> tuple[Extract, Words, str]:
    """Run all of Pagekeep: site rules, metadata, clean HTML, Markdown, frontmatter, quality."""
    from pagekeep import __version__, extract

    return lambda raw, _text, url: extract(raw, url), lambda page: str(page.text), __version__


def bare_parse() -> tuple[Extract, Words, str]:
    """Run only the HTML parser, as Pagekeep calls it: the minimum cost of a page."""
    from pagekeep import dom

    version = importlib.metadata.version("turbohtml")
    return lambda _raw, text, _url: dom.parse(text), lambda _document: "", version


def trafilatura_text() -> tuple[Extract, Words, str]:
    """Run trafilatura with its default options."""
    from trafilatura import extract

    version = importlib.metadata.version("trafilatura")
    return lambda _raw, text, url: extract(text, url=url), lambda found: found or "", version


def trafilatura_markdown() -> tuple[Extract, Words, str]:
    """Run trafilatura for Markdown with metadata. It leaves out links and images, which Pagekeep keeps."""
    from trafilatura import extract

    def run(_raw: bytes, text: str, url: str) -> Any:
        return extract(text, url=url, output_format="markdown", with_metadata=True)

    return run, words_of_markdown, importlib.metadata.version("trafilatura")


def readability_lxml() -> tuple[Extract, Words, str]:
    """Run readability-lxml: title and article HTML."""
    from readability import Document

    def run(_raw: bytes, text: str, url: str) -> Any:
        document = Document(text, url=url)
        return document.title(), document.summary()

    return run, lambda found: words_of_html(found[1]), importlib.metadata.version("readability-lxml")


def resiliparse() -> tuple[Extract, Words, str]:
    """Run resiliparse: plain text of the main content."""
    from resiliparse.extract.html2text import extract_plain_text

    version = importlib.metadata.version("resiliparse")
    return lambda _raw, text, _url: extract_plain_text(text, main_content=True), str, version


EXTRACTORS: dict[str, Callable[[], tuple[Extract, Words, str]]] = {
    "pagekeep": pagekeep,
    "bare parse": bare_parse,
    "trafilatura": trafilatura_text,
    "trafilatura-markdown": trafilatura_markdown,
    "readability-lxml": readability_lxml,
    "resiliparse": resiliparse,
}


def read_message(stream: IO[bytes]) -> dict[str, Any] | None:
    """Return the next message, or `None` at the end of the stream."""
    head = stream.read(4)
    return json.loads(stream.read(struct.unpack("<I", head)[0])) if len(head) == 4 else None


def write_message(stream: IO[bytes], message: dict[str, Any]) -> None:
    """Send one message."""
    body = json.dumps(message).encode()
    stream.write(struct.pack("<I", len(body)) + body)
    stream.flush()


def answer(extract: Extract, words: Words, raw: bytes, text: str, url: str) -> dict[str, Any]:
    """Return the words and CPU seconds of one page; only the extractor's call is timed."""
    begin = time.process_time()
    try:
        found = extract(raw, text, url)
    except Exception as error:  # a peer's failure is a result
        return {"text": "", "seconds": time.process_time() - begin, "error": type(error).__name__}
    seconds = time.process_time() - begin
    return {"text": words(found), "seconds": seconds, "error": ""}


def main() -> None:
    """Serve pages until stdin closes."""
    pages, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever a peer prints must not mix with the answers
    extract, words, version = EXTRACTORS[sys.argv[1]]()
    write_message(answers, {"version": version})
    while (message := read_message(pages)) is not None:
        text = message["text"]
        write_message(answers, answer(extract, words, message["raw"].encode("latin-1"), text, message["url"]))


if __name__ == "__main__":
    main()
