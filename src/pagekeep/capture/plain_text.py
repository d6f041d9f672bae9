"""Text that is not HTML (plain text, Markdown) as a page, kept as it is."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pagekeep import dom
from pagekeep.extraction import metadata
from pagekeep.extraction.input.decode import decode
from pagekeep.extraction.output import quality
from pagekeep.extraction.output.quality import Comparison, Output
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.extraction.steps import Step, run_steps
from pagekeep.model import Attempt, Metadata, Options, Page, PageWarning, Trace
from pagekeep.text import count_words, reading_time

_TITLE_LINES: Final = 50
"""Lines in which a title is looked for."""
_KEPT: Final = Comparison(note="the text is kept as it is")
_MAX_TITLE_CHARS: Final = 200
"""A first line that is longer is a paragraph, of which the beginning serves as title."""


@dataclass(slots=True)
class _State:
    about: Metadata
    words: str
    url: str | None


def _detect_language(state: _State) -> None:
    state.about = metadata.add_language(state.about, dom.parse(""), state.words)


def _choose_tags(state: _State) -> None:
    state.about = metadata.add_tags(state.about, state.words, state.url)


_STEPS: Final = (
    Step("language", _detect_language, may_fail=True),
    Step("tags", _choose_tags, may_fail=True),
)


def keep_text(
    text: str | bytes,
    url: str | None,
    options: Options,
    *,
    about: Metadata | None = None,
    plain: str | None = None,
    comparison: Comparison = _KEPT,
) -> Page:
    """Return a page of the text as it is.

    Its metadata is `about`, else a title from its first line. `plain` is its words, where they differ from the text.
    `comparison` is what is known about losses: by default that there are none.
    """
    source, warnings = decode(text, options)
    body = source.replace("\r\n", "\n").strip("\n") + "\n"
    html, root = sanitise(dom.element("div", None, dom.element("pre", None, dom.element("code", None, body))))
    words = body if plain is None else plain
    output = Output(root, html, words, body, count_words(words))
    about = about or Metadata(title=_find_title(body), origins=MappingProxyType({"title": "first line"}))
    state = _State(about, words, url)
    failures: list[PageWarning] = []
    run_steps(_STEPS, state, warn=failures.append)
    about = state.about
    attempt = Attempt("verbatim", True, "not HTML, kept as it is", output.word_count)
    return Page(
        url=url,
        markdown=body,
        document="",
        html=html,
        text=words,
        metadata=about,
        links=(),
        media=(),
        kind="article",
        quality=quality.assess(output, "verbatim", about, None, comparison),
        strategy="verbatim",
        trace=Trace(attempts=(attempt,), warnings=(*warnings, *failures)),
        word_count=output.word_count,
        reading_time=reading_time(output.word_count),
    )


def _find_title(text: str) -> str | None:
    """Return the first line with a letter or digit, without the marks of a heading."""
    for line in text.splitlines()[:_TITLE_LINES]:
        if any(map(str.isalnum, line)):
            return line.strip("#=*_- \t")[:_MAX_TITLE_CHARS]
    return None
