"""The content of a page that is not extracted from HTML by the pipeline: in all its forms, with language and tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from pagekeep import dom, markdown
from pagekeep.extraction import metadata
from pagekeep.extraction.output import result_parts
from pagekeep.extraction.output.quality import Output
from pagekeep.extraction.output.sanitise import sanitise
from pagekeep.extraction.steps import Step, run_steps
from pagekeep.model import Metadata, Page, PageWarning
from pagekeep.text import count_words, reading_time


def write_output(content: dom.Element, written: str | None = None) -> Output:
    """Return the content, sanitised, in all its forms; its Markdown is the one `written` already if there is one."""
    html, root = sanitise(content)
    text = markdown.to_text(root)
    return Output(root, html, text, written or markdown.to_markdown(root), count_words(text))


def replace_content(page: Page, output: Output, **changes: Any) -> Page:
    """Return the page with other content, and with other `changes` of its fields."""
    return page.copy_with(
        markdown=output.markdown,
        html=output.html,
        text=output.text,
        links=result_parts.list_links(output.root),
        media=result_parts.list_media(output.root),
        word_count=output.word_count,
        reading_time=reading_time(output.word_count),
        **changes,
    )


@dataclass(slots=True)
class _State:
    about: Metadata
    text: str
    url: str | None


def _detect_language(state: _State) -> None:
    state.about = metadata.add_language(state.about, dom.parse(""), state.text)


def _choose_tags(state: _State) -> None:
    state.about = metadata.add_tags(state.about, state.text, state.url)


_STEPS: Final = (Step("language", _detect_language, may_fail=True), Step("tags", _choose_tags, may_fail=True))


def add_language_and_tags(about: Metadata, text: str, url: str | None) -> tuple[Metadata, list[PageWarning]]:
    """Return the metadata with the language and the tags of the text, and warnings of what failed."""
    state, failures = _State(about, text, url), list[PageWarning]()
    run_steps(_STEPS, state, warn=failures.append)
    return state.about, failures
