"""Values of one page: the options it is extracted with, and everything `extract` returns. All frozen."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Container, Iterable, Mapping
from copy import copy
from dataclasses import field, replace
from types import MappingProxyType
from typing import Any, Literal

from pagekeep.model.on_demand import NotMade, make_on_demand
from pagekeep.values import dataclass


def _make_view(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


# Results are sent between processes, so read-only views must be picklable: as their contents and a function of this module,
# because pickle cannot import the type `mappingproxy` by its name.
copyreg.pickle(MappingProxyType, lambda view: (_make_view, (dict(view),)))

Kind = Literal["article", "documentation", "forum", "product", "collection", "listing", "service", "document"]
KINDS: tuple[Kind, ...] = ("article", "documentation", "forum", "product", "collection", "listing", "service")
"""The kinds of web pages; a file such as a PDF is a `document`."""

DocumentType = Literal["html5", "html4-strict", "html4-transitional", "xhtml", "quirks"]

Strategy = Literal["readability", "simplified", "full_page", "bookmark", "verbatim", "document", "discarded"]
"""Which extractor won; the first four are tried in this order. `verbatim` is text other than HTML, kept as it is;
`document` is a file such as a PDF, read as a whole; `discarded` is a page that a rule discards."""

QualityLevel = Literal["article", "simplified", "bookmark", "discarded"]
"""How good the result is, for people: `simplified` may lack parts or have too many, `bookmark` has no content."""
Colour = Literal["green", "yellow", "orange", "grey"]

PARSER_VERSION = 8
"""Raised when the same page may give other bytes than before. Stored with every item, so that stale ones can be found."""


DOCUMENT_FACTOR = 5
"""How much larger than a page a document may be: most of it is pictures and fonts, and a worker reads it page by page."""


MadeField = Literal["html", "links", "media"]
MADE_FIELDS: tuple[MadeField, ...] = ("html", "links", "media")
TextField = Literal["markdown", "document", "text"]
TEXT_FIELDS: tuple[TextField, ...] = ("markdown", "document", "text")
"""The fields of a page that are made from its content when they are needed."""


@dataclass(frozen=True, slots=True)
class SiteKnowledge:
    """What the pages of one site have in common. Made by `pagekeep.extraction.site`, used through `Options.site`."""

    pages: int = 0
    """How many different pages it was learned from."""
    repeated: frozenset[int] = frozenset()
    """Shingles of texts that many of its pages show: hashes of four words in a row, or of a whole shorter text."""
    selector: str | None = None
    """The element that has the content of most of its pages; each page must confirm it."""
    rules: tuple[str, ...] = ()
    """Rules of the platform that made most of its pages, by id: they apply to all of its pages."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of an extraction. Passed whole through every layer."""

    saved_at: str | None = None
    """ISO 8601 time of saving, for the frontmatter that `pagekeep.extract` writes. Extraction never reads a clock."""
    encoding: str | None = None
    """Character set from the transport (HTTP `charset`): used unless there is a BOM, rather than `<meta>`."""
    status: int | None = None
    """HTTP status of the response: helps to recognise an error page."""
    rendered: bool = False
    """Whether a browser has run the page's scripts: then no rule can ask for one."""
    skip_steps: frozenset[str] = frozenset()
    """Names of steps to skip (docs/steps.md lists them), to see what each one does."""
    max_bytes: int = 10_000_000
    """Input larger than this raises `TooLarge`; documents such as PDF may be five times as large."""
    strategies: tuple[Strategy, ...] = ("readability", "simplified", "full_page")
    """Which strategies may find the content; they are tried in this order, and a bookmark is always possible."""
    selectors: tuple[str, ...] = ()
    """Your own CSS selectors for the content; the strategy `simplified` tries them before those that it knows."""
    min_content_chars: int = 0
    """A strategy whose result has fewer characters of text fails, and the next one is tried."""
    enable_markdown: bool = True
    """Whether to return Markdown; without it, `markdown` and `document` are empty."""
    extract_links: bool = True
    extract_media: bool = True
    detect_language: bool = True
    extract_categories: bool = True
    """Whether to return categories, keywords and tags."""
    site: SiteKnowledge | None = None
    """What is known about the site from its other pages: the text that many of them show, their selector and platform."""
    find_pages: int | None = None
    """The number of the page in its article: links to the rest of it are then looked for. Set by the capture."""
    needs: tuple[MadeField, ...] = ()
    """Which fields the caller will read of a page that a worker process extracts: it makes these, and no others. In the same
    process they are made when they are first read."""
    leaves_out: tuple[TextField, ...] = ()
    """Which texts the caller will not read of a page that a worker process extracts: they come back empty, as each may be as
    long as the page."""
    timer: Callable[[], float] | None = None
    """Counter of seconds for the trace and the time limits of the strategies. Without one, only the number of nodes is
    limited and the result depends on nothing but the input."""
    stopwatch: Callable[[], float] | None = None
    """Counter of seconds for the trace only: it limits nothing, so the result does not depend on it."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the page says about itself; `None` or empty where it says nothing."""

    title: str | None = None
    author: str | None = None
    """Names joined by ", "."""
    published: str | None = None
    """ISO 8601, as precise as on the page: `2025-03-19` or `2025-03-19T10:30:00Z`."""
    modified: str | None = None
    description: str | None = None
    site_name: str | None = None
    canonical: str | None = None
    """Absolute URL that the page gives as its own."""
    hero_image: str | None = None
    """Absolute URL of the image that represents the page."""
    favicon: str | None = None
    """Absolute URL of the site's icon."""
    language: str | None = None
    """BCP 47 primary tag in lower case, such as `en` or `pt-br`."""
    licence: str | None = None
    """`CC BY-SA 4.0`, or another name or URL as the page gives it."""
    categories: tuple[str, ...] = ()
    """Sections of the site that the page is in."""
    keywords: tuple[str, ...] = ()
    """The page's own keywords."""
    suggested_tags: tuple[str, ...] = ()
    """At most five tags that a user may want: keywords and sections, then the domain's, then salient terms."""
    origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Field name to the source of its value (`json-ld`, `opengraph`, `meta`, `heading`...), for `--explain`."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link in the content."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Media:
    """An image, video or audio in the content."""

    kind: Literal["image", "video", "audio"]
    url: str
    alt: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the result, with the reason in plain words."""

    name: str
    passed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Quality:
    """How good the result is, for people (level, colour, message) and for programs (score, checks)."""

    score: int
    """0 to 100."""
    level: QualityLevel
    colour: Colour
    message: str
    checks: tuple[Check, ...] = ()
    reason: str | None = None
    """Why extraction failed, for a bookmark, why the page was discarded, or why an article is only simplified."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One strategy that was tried."""

    strategy: Strategy
    passed: bool
    reason: str
    words: int
    seconds: float | None = None
    """Only when the caller gave a timer."""


@dataclass(frozen=True, slots=True)
class Removal:
    """An element that was removed, and why."""

    element: str
    """Short name as in CSS: `div.share-bar`."""
    reason: str
    words: int
    """Words in it."""
    step: str = ""
    """Name of the step that removed it."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A block that was nearly left out, and why it was kept."""

    element: str
    """Short name as in CSS: `p.note`."""
    reason: str
    words: int
    """Words in it."""


WarningCode = Literal[
    "encoding",
    "flattened",
    "truncated",
    "unknown_address",
    "reduced",
    "step_failed",
    "rule_reverted",
    "not_rendered",
    "not_read_remotely",
    "read_remotely",
    "remote_reader",
    "pages_missing",
]
"""What a warning is about: the page is not UTF-8 (`encoding`), was nested too deep or has too many open
tags (`flattened`), is too large, so that its end was left out (`truncated`), has relative links and no address
(`unknown_address`), or lost elements in the clean-up (`reduced`); a step failed without which the content is complete
(`step_failed`); a part of a rule was not applied, because it would have taken most of the text (`rule_reverted`); no browser
could run (`not_rendered`); the remote reader failed (`not_read_remotely`), was used instead of extraction (`read_remotely`),
or sent a warning itself (`remote_reader`); not all pages of the article could be joined (`pages_missing`)."""


@dataclass(frozen=True, slots=True)
class PageWarning:
    """Something the user should know about a result: a code for programs and a text for people."""

    code: WarningCode
    text: str


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """One effect of a rule on the page."""

    what: str
    """`remove`, `include`, `scope`, `metadata`, `next_page`, `single_page`, `rendering`, `quality`, `discard`, or the
    `op` of an action."""
    selector: str
    count: int
    """Elements found; 0 when the selector found nothing."""
    words: int
    """Words in those elements."""
    note: str = ""
    """Details, such as "matched nothing, ignored"."""


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """A rule that applied to the page."""

    id: str
    phase: Literal["pre", "post"]
    trigger: str
    """Why it applied, in plain words: `host ends with wsj.com`, `found .swiper-slide`."""
    effects: tuple[RuleEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class JoinedPage:
    """One of the pages that an article was joined from."""

    url: str
    words: int
    """That it added."""
    note: str
    """How it was found, and what was left out of it."""


@dataclass(frozen=True, slots=True)
class Trace:
    """How a page was extracted: what `--explain` shows. Recomputed from the page at any time, so never stored."""

    document_type: DocumentType = "html5"
    kind_reasons: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    removals: tuple[Removal, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    """Blocks of the content that were nearly left out, in document order."""
    rules: tuple[RuleMatch, ...] = ()
    """Rules that matched, in the order they ran."""
    warnings: tuple[PageWarning, ...] = ()
    pages: tuple[JoinedPage, ...] = ()
    """The pages that an article was joined from; none for one page."""
    seconds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Step name to seconds, only when the caller gave a timer."""


CaughtKind = Literal[
    "bot_wall",
    "consent_wall",
    "login_wall",
    "paywall",
    "soft_404",
    "parked_domain",
    "empty_shell",
    "encrypted_file",
    "damaged_file",
    "scanned_file",
    "empty_file",
]
"""The first ones came instead of a page; the last four are files whose text cannot be read."""


@dataclass(frozen=True, slots=True)
class Caught:
    """What came instead of the page; never kept as if it were the article."""

    kind: CaughtKind
    reason: str
    """How it was recognised, in plain words."""
    suggestion: str
    """What to do next, such as "retry with the browser"."""


@dataclass(frozen=True, slots=True)
class NeedRender:
    """The page has content that only a browser can show. The capture acts on it, once."""

    reason: str
    wait_for: str | None = None
    """CSS selector that a rule waits for before the page is read."""
    timeout: int | None = None
    """Milliseconds that a rule gives the browser."""


EncodingSource = Literal["bom", "http", "meta", "detected"]
"""Where a page's encoding was found, in the order of preference."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as it came from its server or from the browser."""

    url: str
    """As requested."""
    final_url: str
    """After redirects."""
    status: int
    """0 for a file that did not come from a server."""
    headers: Mapping[str, str]
    """Names in lower case; repeated ones joined by ", "."""
    body: bytes
    """Decoded content, before character decoding. Empty when `not_modified`."""
    encoding: str | None = None
    """Character set from the transport."""
    content_type: str = "text/html"
    rendered: bool = False
    """Whether a browser ran the page's scripts."""
    not_modified: bool = False
    """The server answered that the caller's version is still current."""
    etag: str | None = None
    last_modified: str | None = None
    moved_to: str | None = None
    """The URL after the permanent redirects with which the response began; `None` without any."""
    html: str | None = None
    """The body as text; only `pagekeep.fetch_html` sets it."""
    encoding_source: EncodingSource | None = None
    """How the encoding of `html` was found."""
    seconds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Stage (`connect`, `first_byte`, `body`, `render`, `total`) to seconds."""


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link to another page of the same article."""

    url: str
    reason: str
    """Why it is one, in plain words."""
    number: int | None = None
    """The number of that page; `None` when the address does not tell, or it has all of the article."""
    by_rule: bool = False
    """Whether a rule found it: then it need not look like the address of a page with a number."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """The links of a page to the rest of its article. The capture follows them."""

    next: PageLink | None = None
    single: tuple[PageLink, ...] = ()
    """Pages that may have all of the article, the best first."""


@dataclass(frozen=True, slots=True)
class Page:
    """The result of `extract`."""

    url: str | None
    markdown: str
    """The content as Markdown, without frontmatter."""
    document: str
    """Frontmatter and Markdown: the file to keep. Empty until `markdown.write_document` has written it."""
    html: str
    """The content as clean, sanitised HTML."""
    text: str
    """The content as plain text, with blank lines between blocks."""
    metadata: Metadata
    links: tuple[Link, ...]
    media: tuple[Media, ...]
    kind: Kind
    quality: Quality
    strategy: Strategy
    trace: Trace
    word_count: int
    reading_time: str
    """Such as "8 min", at 200 words per minute."""
    caught: Caught | None = None
    """Set for a wall, an error page or an empty shell instead of the page; then only a bookmark is kept."""
    need_render: NeedRender | None = None
    """Set when a browser would show more."""
    selector: str | None = None
    """The selector with which the strategy `simplified` found the content."""
    discarded_by: str | None = None
    """Id of the rule that discarded the page."""
    file_type: str | None = None
    """Of a document, the type of its file, such as "PDF"."""
    page_count: int | None = None
    """Of a document with pages, how many there are; of an article over several pages, how many were joined."""
    continuation: Continuation | None = None
    """Links to the rest of the article, which the capture follows."""

    def with_document(self, document: str) -> Page:
        """Return the page with its document."""
        return self.copy_with(document=document)

    def with_warnings(self, *warnings: PageWarning) -> Page:
        """Return the page with more warnings in its trace."""
        return self.copy_with(trace=replace(self.trace, warnings=(*self.trace.warnings, *warnings)))

    def make(self, needs: Container[MadeField], leaves_out: Iterable[TextField] = ()) -> Page:
        """Make these fields now, in a worker, leave out the others that it would send and these texts, and return the page."""
        for name in MADE_FIELDS:
            # What is stored of a document names the pages of its headings, which only its HTML has.
            if name in needs or (name == "html" and self.page_count is not None):
                getattr(self, name)
            else:
                object.__setattr__(self, name, NotMade())
        for text in leaves_out:
            object.__setattr__(self, text, "")
        return self

    def copy_with(self, **changes: Any) -> Page:
        """Do what `dataclasses.replace` does, but leave what is made on demand as it is."""
        copied = copy(self)
        for name, value in changes.items():
            object.__setattr__(copied, name, value)
        return copied

    def to_json(self) -> dict[str, Any]:
        """Return everything but the trace and the document as JSON types, in a stable order, with the ids of the rules."""
        return {
            "url": self.url,
            "title": self.metadata.title,
            "kind": self.kind,
            "strategy": self.strategy,
            "file_type": self.file_type,
            "page_count": self.page_count,
            "word_count": self.word_count,
            "reading_time": self.reading_time,
            "quality": plain(self.quality),
            "caught": plain(self.caught),
            "need_render": plain(self.need_render),
            "metadata": plain(self.metadata),
            "markdown": self.markdown,
            "html": self.html,
            "text": self.text,
            "links": plain(self.links),
            "media": plain(self.media),
            "rules": list(dict.fromkeys(match.id for match in self.trace.rules)),
        }


make_on_demand(Page, *MADE_FIELDS)


def plain(value: Any) -> Any:
    """Return dataclasses, mappings and tuples as dicts and lists (`dataclasses.asdict` cannot copy a mapping proxy)."""
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value


@dataclass(frozen=True, slots=True)
class RuleFault:
    """An error in a rule file, and its place."""

    file: str
    """Its name, without the folder."""
    line: int
    path: str
    """The key, such as `[3].trigger.host.equal`; empty for the file as a whole."""
    message: str
    suggestion: str = ""
    rule: str = ""
    """The rule's id, where it has one."""

    def __str__(self) -> str:
        """Return one line for people: where it is, what is wrong, and what to do."""
        where = f"{self.file}:{self.line}: " + (f"{self.path}: " if self.path else "")
        return where + self.message + (f" {self.suggestion}" if self.suggestion else "")


@dataclass(frozen=True, slots=True)
class PageSigns:
    """What one page shows of how its site is made. Made by `pagekeep.extraction.site.read_signs`."""

    selectors: tuple[str, ...] = ()
    """Selectors that find the element of its content, and nothing else on the page."""
    rules: tuple[str, ...] = ()
    """Rules that recognised the page by what it contains."""
