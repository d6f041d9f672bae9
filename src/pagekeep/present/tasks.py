"""What doors show of content of others, as tasks for the worker room: explanations, differences, parts of long texts."""

from __future__ import annotations

from dataclasses import dataclass

from pagekeep.model import Page
from pagekeep.present import sections
from pagekeep.present.diff import WordDiff, compare_words
from pagekeep.present.sections import Section
from pagekeep.text import split_words, strip_markdown


@dataclass(frozen=True, slots=True)
class ExplainTask:
    """Explain how a page was extracted."""

    page: Page

    @classmethod
    def of(cls, page: Page) -> ExplainTask:
        """Return the task for a page, which has its links and media, without the texts, which explanations do not need."""
        return cls(page.copy_with(markdown="", document="", html="", text=""))

    def run(self) -> str:
        """Return the explanation."""
        from pagekeep.present.explain import explain

        return explain(self.page)


@dataclass(frozen=True, slots=True)
class CompareTask:
    """Compare two versions of a text."""

    before: str
    after: str

    def run(self) -> tuple[str, ...]:
        """Return the lines of a diff."""
        from pagekeep.present.diff import difference

        return tuple(difference(self.before, self.after))


@dataclass(frozen=True, slots=True)
class OutlinePart:
    """A part of the outline of a text, with the numbers of the whole."""

    sections: tuple[Section, ...]
    total: int
    """Sections of the whole outline."""
    tokens: int
    """Of the whole text."""


@dataclass(frozen=True, slots=True)
class OutlineTask:
    """Find the sections of a text."""

    text: str
    start: int
    """The first section to return."""
    max_sections: int

    def run(self) -> OutlinePart:
        """Return the sections from `start` on."""
        found = sections.outline(self.text)
        shown = found[self.start : self.start + self.max_sections]
        return OutlinePart(shown, len(found), sections.estimate_tokens(self.text))


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text, with the numbers of the whole or of the section."""

    text: str
    following: int | None
    """Where the next part begins."""
    length: int
    tokens: int


@dataclass(frozen=True, slots=True)
class PartTask:
    """Cut a part out of a text, or of one of its sections."""

    text: str
    section: str | None
    start: int
    max_chars: int

    def run(self) -> TextPart:
        """Return the part; raise `NotFound` for an unknown section."""
        whole = sections.section(self.text, self.section) if self.section else self.text
        part, following = sections.split_part(whole, self.start, self.max_chars)
        return TextPart(part, following, len(whole), sections.estimate_tokens(whole))


@dataclass(frozen=True, slots=True)
class WordDiffTask:
    """Compare two versions of a text word by word."""

    before: str
    after: str

    def run(self) -> WordDiff:
        """Return the differences."""
        return compare_words(self.before, self.after)


@dataclass(frozen=True, slots=True)
class FindQuotesTask:
    """Find out which quotes are in a text, whatever its markup."""

    markdown: str
    quotes: tuple[str, ...]

    def run(self) -> tuple[bool, ...]:
        """Return for each quote whether its words are in the text, in their order; an empty quote is in every text."""
        words = f" {' '.join(split_words(strip_markdown(self.markdown)))} "
        return tuple(f" {' '.join(split_words(quote))} " in words or not quote.strip() for quote in self.quotes)


@dataclass(frozen=True, slots=True)
class FindInTextsTask:
    """Find out which quotes are in which texts, for several texts at once."""

    searches: tuple[FindQuotesTask, ...]

    def run(self) -> tuple[tuple[bool, ...], ...]:
        """Return the results of all searches, in their order."""
        return tuple(search.run() for search in self.searches)
