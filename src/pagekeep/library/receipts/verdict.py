"""Compare an item with its receipt: the hashes of its raw page and text, and the text that the raw page gives again.

The receipt is in the item's metadata: `raw_hash`, `parser_version`, `rules_hash` and `options` make `content_hash`, the hash of
the Markdown; `text_hash` is the hash of the whole stored text. A verdict names what was compared and claims no more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from pagekeep.errors import PagekeepError
from pagekeep.model import PARSER_VERSION, Item, RawPage
from pagekeep.store.storable import clean_text
from pagekeep.store.text_stamp import has_markdown, is_text_sound

State = Literal["verified", "unproven", "damaged", "differs", "failed"]
"""`unproven`: nothing is wrong, but the text could not be derived again; `differs`: the raw page gives another text now;
`failed`: the raw page could not be extracted."""
Reason = Literal[
    "edited",
    "no_raw_page",
    "older_parser",
    "newer_parser",
    "other_rules",
    "raw_page",
    "text",
    "version",
    "file",
    "unreadable",
    "another_text",
    "extraction",
]
Compared = Literal["raw_page", "text", "markdown", "frontmatter", "versions", "files"]
"""What was compared with a hash or with the derived text: `text` is the whole stored text with its recorded hash."""
FAULTS: Final[frozenset[State]] = frozenset({"damaged", "differs", "failed"})

_READ_AGAIN: Final = "`pagekeep reparse` reads it again and records a new receipt."


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the comparison of one item found."""

    item_id: str
    url: str
    title: str
    state: State
    compared: tuple[Compared, ...] = ()
    reason: Reason | None = None
    message: str | None = None
    """What is wrong, or what could not be compared, and what to do."""

    @property
    def is_fault(self) -> bool:
        """Whether something is wrong."""
        return self.state in FAULTS

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as the API and `--json` show it."""
        return {
            "id": self.item_id,
            "url": self.url,
            "title": self.title,
            "state": self.state,
            "compared": list(self.compared),
            "reason": self.reason,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class Evidence:
    """An item with its raw page, as they are stored."""

    item: Item
    raw: RawPage | None = None
    raw_name: str | None = None
    """The hash under which the raw page is stored."""
    raw_fault: str | None = None
    """Why the raw page cannot be read."""
    versions: int = 0
    """How many other versions of the page were compared with their hashes."""
    version_fault: str | None = None
    """What is wrong with one of them."""
    files: int = 0
    """How many kept files (pictures, copies) were compared with their hashes."""
    file_fault: str | None = None
    """What is wrong with one of them."""

    @property
    def derivable(self) -> bool:
        """Whether this version can derive the text again."""
        about = self.item.metadata
        return (
            self.raw is not None
            and not about.edited
            and about.parser_version == PARSER_VERSION
            and about.content_hash is not None
        )


def unreadable(item_id: str, error: Exception) -> Verdict:
    """Return the verdict on an item that cannot be read."""
    what = error.message if isinstance(error, PagekeepError) else "Its data is not valid."
    message = f"The item cannot be read: {what}"
    return Verdict(item_id, "", "", "damaged", (), "unreadable", message)


def judge(evidence: Evidence, derived: Item | PagekeepError | None, rules_hash: str) -> Verdict:
    """Return the verdict on an item; `derived` is the item that its raw page gives now, if it is derivable."""
    item = evidence.item
    compared: list[Compared] = []

    def verdict(state: State, reason: Reason | None = None, message: str | None = None) -> Verdict:
        return Verdict(item.id, item.url, item.title, state, tuple(compared), reason, message)

    for fault_reason, message in _stored_faults(evidence, compared):
        return verdict("damaged", fault_reason, message)
    if derived is None:
        return verdict("unproven", *_why_not_derived(evidence))
    if isinstance(derived, PagekeepError):
        return verdict("failed", "extraction", f"The raw page cannot be extracted: {derived.message}")
    about, same_rules = item.metadata, item.metadata.rules_hash == rules_hash
    if clean_text(derived.content) == item.content:
        compared += ["markdown", "frontmatter"]
        return verdict("verified", None, None if same_rules else _RULES_NOTE)
    if derived.metadata.content_hash == about.content_hash:
        if not has_markdown(item.content, about.content_hash):
            return verdict("damaged", "text", "The stored text does not contain the Markdown that the raw page gives.")
        compared.append("markdown")
        return verdict("verified", None, _FRONTMATTER_NOTE)
    if not same_rules:
        return verdict("unproven", "other_rules", f"Other rules were active when the page was extracted. {_READ_AGAIN}")
    return verdict("differs", "another_text", f"The raw page now gives another text. {_READ_AGAIN}")


_RULES_NOTE: Final = "Other rules were active when the page was extracted; the rules of now give the same text."
_FRONTMATTER_NOTE: Final = "The Markdown is the same; title and frontmatter are not from the raw page alone."


def _stored_faults(evidence: Evidence, compared: list[Compared]) -> Iterator[tuple[Reason, str]]:
    """Yield what does not have its recorded hash, and note what was compared."""
    item, about = evidence.item, evidence.item.metadata
    if evidence.raw_fault is not None:
        yield "raw_page", f"The raw page cannot be read: {evidence.raw_fault}"
    elif evidence.raw is None and evidence.raw_name is not None:
        yield "raw_page", "The raw page is missing, though the library lists it."
    if evidence.raw is not None:
        digest = hashlib.sha256(evidence.raw.body).hexdigest()
        if evidence.raw_name not in (None, digest):
            yield "raw_page", "The raw page does not have the hash under which it was stored."
        # A text without a parser version is one that the user edited, and that no page gives.
        is_derived = not about.edited and about.parser_version is not None
        if about.raw_hash not in (None, digest) and is_derived:
            yield "raw_page", "The raw page is not the one that the text was made from."
        if evidence.raw_name is not None or about.raw_hash is not None:
            compared.append("raw_page")
    if not is_text_sound(item):
        yield "text", "The stored text does not have the hash that was recorded when it was stored."
    if about.text_hash is not None:
        compared.append("text")
    if evidence.version_fault is not None:
        yield "version", evidence.version_fault
    if evidence.file_fault is not None:
        yield "file", evidence.file_fault
    if evidence.versions:
        compared.append("versions")
    if evidence.files:
        compared.append("files")


def _why_not_derived(evidence: Evidence) -> tuple[Reason, str]:
    about = evidence.item.metadata
    if about.edited:
        return "edited", "The text is your own version, which no page gives."
    if evidence.raw is None:
        return "no_raw_page", "The raw page was not stored, so its text cannot be derived again."
    version = about.parser_version
    if version is not None and version > PARSER_VERSION:
        return "newer_parser", f"A newer parser (version {version}) made the text. Update Pagekeep to verify it."
    made_by = "An older parser" if version is None else f"An older parser (version {version})"
    return "older_parser", f"{made_by} made the text, which version {PARSER_VERSION} cannot repeat. {_READ_AGAIN}"
