"""Compare an item with its receipt: the hashes of its raw page and text, and the text that the raw page gives again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from pagekeep import clock
from pagekeep.errors import PagekeepError
from pagekeep.library.archive.timestamps import Timestamp, check_timestamp
from pagekeep.library.items.build_item import choose_title
from pagekeep.library.signatures import RECEIPT, check_signature
from pagekeep.markdown import split_block, write_document
from pagekeep.model import PARSER_VERSION, Item, Page, RawPage
from pagekeep.model.lists import page_values
from pagekeep.store.storable import clean_text, has_markdown, is_text_sound

State = Literal["verified", "unproven", "damaged", "differs", "failed"]
"""`unproven`: nothing is wrong, but not all of the text can be proven; `differs`: the raw page gives another text now;
`failed`: the raw page could not be extracted."""
Reason = Literal[
    "edited",
    "no_raw_page",
    "older_parser",
    "newer_parser",
    "other_rules",
    "incomplete_receipt",
    "not_from_page",
    "signature",
    "timestamp",
    "raw_page",
    "text",
    "version",
    "file",
    "unreadable",
    "another_text",
    "extraction",
]
Compared = Literal["signature", "timestamp", "raw_page", "text", "markdown", "frontmatter", "versions", "files"]
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
    signed_by: str | None = None
    """The public key that signed the receipt of this text; the user must know whose it is."""
    timestamp: Timestamp | None = None
    """The time stamp of that signature; the user must know whether the service is to be trusted."""

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
            "signed_by": self.signed_by,
            "timestamp": self.timestamp and asdict(self.timestamp),
        }


@dataclass(frozen=True, slots=True)
class Derived:
    """The text that a raw page gives, as it would be stored."""

    content: str
    content_hash: str
    """Of the Markdown alone."""
    as_imported: str | None = None
    """Of an imported item, the text with what the page does not say: the item's title, author and date."""


def derive(page: Page, item: Item) -> Derived:
    """Return the text that an extracted page gives for an item that was saved when its text says."""
    saved_at = stated_time(item)
    text = clean_text(write_document(page, saved_at=saved_at))
    digest = hashlib.sha256(page.markdown.encode("utf-8", "surrogatepass")).hexdigest()
    if not item.metadata.imported:
        return Derived(text, digest)
    about, own = page.metadata, page_values(item)
    known = replace(
        about,
        title=about.title if own["title"] == choose_title(page, item.url) else own["title"],
        author=about.author or own["author"],
        published=about.published or own["published_at"],
    )
    return Derived(text, digest, clean_text(write_document(page.copy_with(metadata=known), saved_at=saved_at)))


def stated_time(item: Item) -> str:
    """Return when the item was saved by its text: an import of the page may have given the item an earlier time since."""
    found = _SAVED_AT.search(split_block(item.content)[0])
    return found[1] if found else clock.to_the_second(item.saved_at)


_SAVED_AT: Final = re.compile(r"^saved_at: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$", re.MULTILINE)


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


def judge(evidence: Evidence, derived: Derived | PagekeepError | None, rules_hash: str) -> Verdict:
    """Return the verdict on an item; `derived` is the text that its raw page gives now, if it is derivable."""
    item, about = evidence.item, evidence.item.metadata
    compared: list[Compared] = []
    signature = check_signature(item)
    signed_by = signature.key if signature is not None and signature.is_valid and signature.is_current else None
    timestamp: Timestamp | None = None

    def verdict(state: State, reason: Reason | None = None, message: str | None = None) -> Verdict:
        found = Verdict(item.id, item.url, item.title, state, tuple(compared), reason, message)
        return found if found.is_fault else replace(found, signed_by=signed_by, timestamp=timestamp)

    if signature is not None and not signature.is_valid:
        return verdict("damaged", "signature", "The signature of the receipt is not one of the key that it names.")
    if signed_by is not None and about.signature is not None:
        compared.append("signature")
        try:
            timestamp = check_timestamp(about.signature)
        except PagekeepError as error:
            return verdict("damaged", "timestamp", error.message)
        if timestamp is not None:
            compared.append("timestamp")
    for fault_reason, message in _stored_faults(evidence, compared):
        return verdict("damaged", fault_reason, message)
    if derived is None:
        return verdict("unproven", *_why_not_derived(evidence))
    if isinstance(derived, PagekeepError):
        return verdict("failed", "extraction", f"The raw page cannot be extracted: {derived.message}")
    same_rules = about.rules_hash == rules_hash
    if derived.content_hash != about.content_hash:
        if derived.content == item.content:
            return verdict("damaged", "text", "The text is not the one whose hash was recorded when it was extracted.")
        if not same_rules:
            return verdict("unproven", "other_rules", _OTHER_RULES)
        return verdict("differs", "another_text", f"The raw page now gives another text. {_READ_AGAIN}")
    if item.content not in (derived.content, derived.as_imported):
        if not same_rules and has_markdown(item):  # a rule may give another title
            compared.append("markdown")
            return verdict("unproven", "other_rules", _OTHER_RULES)
        return verdict("damaged", "text", "The stored text is not the one that the raw page gives.")
    compared.append("markdown")
    if item.content != derived.content:
        return verdict("unproven", "not_from_page", _NOT_FROM_PAGE)
    if (stated := stated_time(item)) != (own := clock.to_the_second(item.saved_at)):
        if stated < own:
            return verdict("damaged", "text", "The text says that the page was saved before the item was.")
        return verdict("unproven", "not_from_page", f"{_OTHER_TIME} {own}, and its text says {stated}.")
    compared.append("frontmatter")
    missing = [name for name in RECEIPT if getattr(about, name) is None]
    if missing:
        return verdict("unproven", "incomplete_receipt", f"The receipt lacks {', '.join(missing)}. {_READ_AGAIN}")
    return verdict("verified", None, None if same_rules else _RULES_NOTE)


_RULES_NOTE: Final = "Other rules were active when the page was extracted; the rules of now give the same text."
_OTHER_RULES: Final = f"Other rules were active when the page was extracted. {_READ_AGAIN}"
_NOT_FROM_PAGE: Final = (
    "The Markdown is what the raw page gives. Title, author or date came with an import and cannot be proven."
)
_OTHER_TIME: Final = "The text is what the raw page gives. Its time cannot be proven: the item was saved at"


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
    if version == PARSER_VERSION:
        return "incomplete_receipt", f"The receipt lacks content_hash. {_READ_AGAIN}"
    if version is not None and version > PARSER_VERSION:
        return "newer_parser", f"A newer parser (version {version}) made the text. Update Pagekeep to verify it."
    made_by = "An older parser" if version is None else f"An older parser (version {version})"
    return "older_parser", f"{made_by} made the text, which version {PARSER_VERSION} cannot repeat. {_READ_AGAIN}"
