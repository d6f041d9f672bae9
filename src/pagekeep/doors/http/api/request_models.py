"""The bodies of API requests: checked by FastAPI and described in the OpenAPI document."""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from typing import Annotated, ClassVar, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from pagekeep.capture.documents.file_types import SUFFIXES, TYPE_NAMES
from pagekeep.capture.from_url import Request, Retrieval
from pagekeep.capture.uploads import page_in_file, sent_page, sent_selection
from pagekeep.doors.http.observability import log_host
from pagekeep.doors.http.requests import decode_file
from pagekeep.library import queue
from pagekeep.model import Fetched, Scope
from pagekeep.model.tags import clean_tags

MAX_TAGS: Final = 100
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def _replace_surrogates(value: object) -> object:
    """Replace lone surrogates, which a browser's text may contain and UTF-8 cannot encode."""
    if not isinstance(value, str) or not _SURROGATE.search(value):  # most pages have none, and need no copy
        return value
    return value.encode("utf-8", "replace").decode()


def _check_type(name: str) -> str:
    """Return the name of a file type if there is such a type."""
    if name.lower() not in SUFFIXES:
        raise ValueError(f"use one of {', '.join(TYPE_NAMES)}")
    return name.lower()


def _decode_file(value: object) -> bytes:
    """Return a file that is sent in Base64."""
    try:
        return decode_file(value if isinstance(value, str) else "?")
    except ValueError:
        raise ValueError("not valid Base64") from None


File = Annotated[
    bytes,
    BeforeValidator(_decode_file),
    PlainSerializer(lambda file: sha256(file).hexdigest()),  # enough to recognise a repeated request
    WithJsonSchema({"type": "string", "format": "byte"}),
]
FileType = Annotated[str, StringConstraints(max_length=20), AfterValidator(_check_type)]
FileName = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Html = Annotated[str, BeforeValidator(_replace_surrogates)]
Url = Annotated[str, StringConstraints(min_length=1, max_length=8192)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS)]
Selector = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
RenderMode = Literal["auto", "force", "never"]
ItemKey = Annotated[str, StringConstraints(min_length=1, max_length=100)]
AnnotationText = Annotated[str, StringConstraints(max_length=10_000)]
Colour = Annotated[str, StringConstraints(max_length=40)]
FieldText = Annotated[str, StringConstraints(max_length=2_000)]
Password = Annotated[str, StringConstraints(max_length=1_000)]


class RequestBody(BaseModel):
    """The base of all bodies. Unknown keys are rejected, so that a typo does not pass silently."""

    model_config = ConfigDict(extra="forbid")


class ExtractRequest(RequestBody):
    """A page to extract: by its URL, as HTML, or as a file such as a PDF."""

    _default_url: ClassVar[str | None] = ""
    """The URL of a file that is sent without one: none."""

    url: Url | None = Field(None, examples=["https://example.com/post"])
    html: Html | None = Field(None, description="The page's HTML; if present, nothing is fetched.")
    rendered: bool = Field(True, description="Whether `html` comes from a browser, after its scripts ran.")
    selection: Html | None = Field(None, description="HTML of the part of the page to extract.")
    file: File | None = Field(
        None,
        description="A document, such as a PDF, or another page as a file, in Base64; if present, nothing is fetched.",
    )
    name: FileName | None = Field(None, description="Name of `file`.", examples=["paper.pdf"])
    type: FileType | None = Field(
        None, description=f"Type of `file`, where neither its content nor `name` shows it: {', '.join(TYPE_NAMES)}."
    )
    render: RenderMode | None = Field(
        None, description="Whether to load the page in a browser: if needed, always, never."
    )
    wait_for: Selector | None = Field(None, description="CSS selector of an element the browser waits for.")

    join_pages: bool | None = Field(
        None,
        description="Whether to fetch and join the other pages of an article over several pages. Default: the setting.",
    )

    @model_validator(mode="after")
    def _check_source(self) -> ExtractRequest:
        if self.url is None and self.html is None and self.file is None:
            raise ValueError("`url`, `html` or `file` is required")
        if self.html is not None and self.file is not None:
            raise ValueError("use either `html` or `file`")
        if self.selection is not None and self.html is None:
            raise ValueError("`selection` requires `html`")
        return self

    def capture_request(self) -> Request:
        """Return the request to capture the page, and add the page's host to the log."""
        if self.url:
            log_host(self.url)
        return Request(self.url or "", render=self.render, wait_for=self.wait_for, join_pages=self.join_pages)

    async def uploaded_page(self, retrieval: Retrieval) -> Fetched | None:
        """Return the page, or the selected part of it, if its HTML or its file was sent."""
        if self.file is not None:
            declared, url = SUFFIXES.get(self.type or ""), self.url or self._default_url
            return await page_in_file(self.file, self.name or "", retrieval, url=url, declared=declared)
        if self.html is None:
            return None
        page = sent_page(self.url or "", self.html, rendered=self.rendered)
        return await sent_selection(page, self.selection, retrieval) if self.selection else page


class SaveRequest(ExtractRequest):
    """A page to save; its URL identifies it. A file without one is identified by its name and content."""

    _default_url: ClassVar[str | None] = None

    tags: Tags = Field([], examples=[["harbour", "history"]])
    force: bool = Field(False, description="Replace the stored version even if the new one is worse.")

    @model_validator(mode="after")
    def _check_identity(self) -> SaveRequest:
        if self.url is None and self.file is None:
            raise ValueError("`url` is required, or `file`")
        return self

    def save_request(self, uploaded: Fetched | None = None) -> queue.SaveRequest:
        """Return what to save; `uploaded` is the page or file in the request."""
        page = self.capture_request()
        return queue.SaveRequest(
            replace(page, url=uploaded.url) if uploaded else page,
            clean_tags(self.tags),
            self.force,
            uploaded=uploaded,
            join_uploaded=uploaded is not None and self.selection is None,
        )


class ItemChanges(RequestBody):
    """Changes to an item; fields that are left out stay unchanged."""

    pinned: bool | None = None
    archived: bool | None = None
    failed: Literal[False] | None = Field(
        None, description="Keep the bookmark of a page that could not be saved: it moves to the inbox."
    )
    tags: Tags | None = Field(None, description="All tags; replaces the existing ones.")
    add_tags: Tags = Field([], examples=[["harbour"]])
    remove_tags: Tags = []
    opened: Literal[True] | None = Field(None, description="Mark the item as opened now.")
    title: FieldText | None = Field(None, description="A title in place of the page's own.")
    author: FieldText | None = Field(None, description="An author in place of the page's; empty for none.")
    published_at: FieldText | None = Field(None, description="A date in place of the page's; empty for none.")
    site_name: FieldText | None = Field(None, description="The site's name in place of the page's; empty for none.")
    reset: list[Literal["title", "author", "published_at", "site_name"]] = Field(
        [], max_length=4, description="Fields that are to be the page's own again."
    )
    refuse_tags: Tags = Field([], description="Suggested tags that are not to be suggested again.")

    @property
    def edits(self) -> dict[str, str]:
        """The edited fields."""
        values = {name: getattr(self, name) for name in ("title", "author", "published_at", "site_name")}
        return {name: value for name, value in values.items() if value is not None}

    @model_validator(mode="after")
    def _check_tags(self) -> ItemChanges:
        if self.tags is not None and (self.add_tags or self.remove_tags):
            raise ValueError("use either `tags`, or `add_tags` and `remove_tags`")
        return self


class RetryRequest(RequestBody):
    """How to fetch an item again."""

    render: RenderMode | None = None
    wait_for: Selector | None = None


class ReparseRequest(RequestBody):
    """How to reparse an item."""

    force: bool = Field(False, description="Replace the stored version even if the new one is worse.")
    dry_run: bool = Field(False, description="Only report what would change.")


class ReparseManyRequest(RequestBody):
    """The items to reparse: by `ids`, `domain` or `query`; without any of them, all outdated items."""

    ids: Annotated[list[ItemKey], Field(min_length=1, max_length=1000)] | None = Field(
        None, description="IDs of the items."
    )
    domain: Annotated[str, StringConstraints(min_length=1, max_length=300)] | None = Field(
        None, description="All items of this domain.", examples=["example.com"]
    )
    query: Annotated[str, StringConstraints(min_length=1, max_length=1000)] | None = Field(
        None, description="All results of this search."
    )
    limit: Annotated[int, Field(ge=1)] | None = Field(None, description="Maximum number of items, oldest first.")
    force: bool = Field(False, description="Replace the stored version even if the new one is worse.")

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"domain": "example.com", "limit": 100}]})

    @model_validator(mode="after")
    def _check_choice(self) -> ReparseManyRequest:
        if sum(choice is not None for choice in (self.ids, self.domain, self.query)) > 1:
            raise ValueError("use only one of `ids`, `domain` and `query`")
        return self


class VersionChanges(RequestBody):
    """Changes to a version."""

    pinned: bool


class WatchRequest(RequestBody):
    """How often to visit a page."""

    every: Annotated[str, StringConstraints(min_length=2, max_length=20)] = Field(
        "1d", description="5m to 90d: a number and m (minutes), h (hours), d (days) or w (weeks)."
    )


class SeenRequest(RequestBody):
    """The changes that were seen."""

    ids: Annotated[list[ItemKey], Field(max_length=1000)] | None = Field(
        None, description="IDs of the changes; without it, all of them."
    )


class PurgeRequest(RequestBody):
    """The deleted items to remove permanently."""

    ids: Annotated[list[Annotated[str, StringConstraints(max_length=100)]], Field(max_length=1000)] | None = Field(
        None, description="IDs of the items; without it, all deleted items."
    )


class RuleFile(RequestBody):
    """A rule file."""

    yaml: Annotated[str, StringConstraints(max_length=1_000_000)] = Field(
        examples=["- id: mine\n  trigger: {host: {equals: example.com}}\n  remove: [.promo]\n"]
    )


class RuleTrialRequest(RuleFile):
    """Rules, and the page to try them on."""

    page: Url = Field(description="ID or URL of a saved page, or the URL of another page.")


class NewAnnotation(RequestBody):
    """A highlight, found again by its words, or a note on the whole page."""

    quote: AnnotationText = Field("", description="The highlighted words; empty for a note on the whole page.")
    before: AnnotationText = Field("", description="A few words before the quote.")
    after: AnnotationText = Field("", description="A few words after the quote.")
    note: AnnotationText = ""
    colour: Colour | None = None


class AnnotationChanges(RequestBody):
    """Changes to an annotation; fields that are left out stay unchanged."""

    note: AnnotationText | None = None
    colour: Colour | None = None


class PasswordChange(RequestBody):
    """The current and the new password."""

    old: Password = Field(examples=["nine stoves and a kettle"])
    new: Password = Field(description="At least ten characters.", examples=["ten kettles and no stove"])


class TokenRequest(RequestBody):
    """A token to create."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(examples=["phone"])
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3)] = Field(
        ["read"], description="`read`, `write`; and a dialect (`wallabag`, `linkding`, `opds`) if it is for that only."
    )
    days: Annotated[float, Field(gt=0, le=36_500)] | None = Field(
        None, description="Days until the token expires; without it, the token is valid until revoked."
    )


class PairingRequest(RequestBody):
    """The code that the user confirmed on `/pair`, and the verifier whose hash was its challenge (PKCE, S256)."""

    code: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    verifier: Annotated[str, StringConstraints(min_length=43, max_length=128)]
