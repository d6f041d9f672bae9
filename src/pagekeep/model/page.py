"""Values of one page: the options it is extracted with, and everything `extract` returns. All frozen."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from pagekeep.model.rules import RuleMatch


def _view(shown: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(shown)


# Results cross process borders; a read-only view of a mapping does so as what it shows. By a function of ours: the type
# itself goes by a name that cannot be imported.
copyreg.pickle(MappingProxyType, lambda view: (_view, (dict(view),)))

Kind = Literal["article", "documentation", "forum", "product", "collection", "listing", "service"]
KINDS: tuple[Kind, ...] = ("article", "documentation", "forum", "product", "collection", "listing", "service")

DocumentType = Literal["html5", "html4-strict", "html4-transitional", "xhtml", "quirks"]

Strategy = Literal["readability", "simplified", "full_page", "bookmark", "verbatim", "discarded"]
"""The level of the chain that won, in the order the levels are tried; `verbatim` is text that was no HTML, `discarded` a page
that a rule wants none of."""

QualityLevel = Literal["article", "simplified", "bookmark", "discarded"]
Colour = Literal["green", "yellow", "orange", "grey"]

PARSER_VERSION = 3
"""Raised whenever the same page may give other bytes than before; stored with every item, so stale ones can be found."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller may choose. Travels whole through every layer."""

    saved_at: str | None = None
    """ISO 8601 moment of saving, for the frontmatter. The core never looks at a clock."""
    encoding: str | None = None
    """Character set the transport named (HTTP `charset`), weaker than a BOM, stronger than `<meta>`."""
    status: int | None = None
    """HTTP status the page came with: helps to tell an error page from the page."""
    rendered: bool = False
    """Whether a browser has run the page's scripts: then no rule asks for one."""
    remembered: tuple[str, ...] = ()
    """CSS selectors that found the content on this domain before; level 2 tries them first. It only reorders attempts."""
    skip_steps: frozenset[str] = frozenset()
    """Names of steps to leave out (docs/steps.md lists them), to see what each one does."""
    max_bytes: int = 10_000_000
    """Input larger than this raises `TooLarge`."""
    timer: Callable[[], float] | None = None
    """Seconds counter for the trace and the levels' time budgets. Without one, budgets count nodes alone and the result
    depends on nothing but the input."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the page says about itself. Absent means the page does not say."""

    title: str | None = None
    author: str | None = None
    """Names joined by ", "."""
    published: str | None = None
    """ISO 8601, as precise as the page states: `2025-03-19` or `2025-03-19T10:30:00Z`."""
    modified: str | None = None
    description: str | None = None
    site_name: str | None = None
    canonical: str | None = None
    """Absolute URL the page names as its own."""
    hero_image: str | None = None
    favicon: str | None = None
    language: str | None = None
    """BCP 47 primary tag in lower case, such as `en` or `pt-br`."""
    licence: str | None = None
    """Under which it is given: `CC BY-SA 4.0`, else as the page names it, a name or an address."""
    categories: tuple[str, ...] = ()
    """Sections the page files itself under."""
    keywords: tuple[str, ...] = ()
    """The page's own keywords."""
    tags: tuple[str, ...] = ()
    """At most five, for the library: keywords and categories, then the domain's, then salient terms."""
    origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Field name to where its value came from (`json-ld`, `opengraph`, `meta`, `heading`...), for `--explain`."""


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
    """One test of the result, with the reason in plain words."""

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
    """Why extraction failed, on a bookmark, or why the page was discarded."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One level of the chain that was tried."""

    strategy: Strategy
    passed: bool
    reason: str
    words: int
    seconds: float | None = None
    """Only when the caller gave a timer."""


@dataclass(frozen=True, slots=True)
class Removal:
    """Something that was cut, and why."""

    element: str
    """Short name as in CSS: `div.share-bar`."""
    reason: str
    words: int
    """Words it held."""
    step: str = ""
    """Name of the step that removed it."""


WarningCode = Literal[
    "encoding",
    "flattened",
    "truncated",
    "unknown_address",
    "reduced",
    "not_rendered",
    "not_read_remotely",
    "read_remotely",
    "remote_reader",
]
"""What a warning is about: the page is not UTF-8 (`encoding`), was nested too deep (`flattened`) or
is too long (`truncated`), has relative links and no address (`unknown_address`), or lost elements in the clean-up
(`reduced`); no browser could run (`not_rendered`); the remote reader failed (`not_read_remotely`), was used instead of our own
extraction (`read_remotely`), or sent a warning itself (`remote_reader`)."""


@dataclass(frozen=True, slots=True)
class PageWarning:
    """Something the user should know about a result: a code for programs and a text for people."""

    code: WarningCode
    text: str


@dataclass(frozen=True, slots=True)
class Trace:
    """How a page was extracted: what `--explain` shows. Recomputed from the page at any time, so never stored."""

    document_type: DocumentType = "html5"
    kind_reasons: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    removals: tuple[Removal, ...] = ()
    rules: tuple[RuleMatch, ...] = ()
    """Rules that matched, in the order they ran."""
    warnings: tuple[PageWarning, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Stage to seconds, only when the caller gave a timer."""


CaughtKind = Literal["bot_wall", "consent_wall", "login_wall", "paywall", "soft_404", "parked_domain", "empty_shell"]


@dataclass(frozen=True, slots=True)
class Caught:
    """What was caught instead of the page: never kept as if it were the article."""

    kind: CaughtKind
    reason: str
    """What showed it, in plain words."""
    suggestion: str
    """What to do next, such as "retry with the browser"."""


@dataclass(frozen=True, slots=True)
class NeedRender:
    """The page promises content that only a browser can show. A value: only the shell acts on it, once."""

    reason: str
    wait_for: str | None = None
    """CSS selector that a rule wants to see before the page is read."""
    timeout: int | None = None
    """Milliseconds that a rule allows the browser."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as it came from its server or out of the browser."""

    url: str
    """As asked for."""
    final_url: str
    """After redirects."""
    status: int
    headers: Mapping[str, str]
    """Names in lower case; repeated ones joined by ", "."""
    body: bytes
    """Decoded content, before character decoding. Empty when `not_modified`."""
    encoding: str | None = None
    """Character set that the transport named."""
    content_type: str = "text/html"
    rendered: bool = False
    """Whether a browser ran the page's scripts."""
    not_modified: bool = False
    """The server said that what the caller already has is still good."""
    etag: str | None = None
    last_modified: str | None = None
    seconds: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Stage (`connect`, `first_byte`, `body`, `render`, `total`) to seconds."""


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
    """The content's plain words, blocks apart by blank lines."""
    metadata: Metadata
    links: tuple[Link, ...]
    media: tuple[Media, ...]
    kind: Kind
    quality: Quality
    strategy: Strategy
    trace: Trace
    word_count: int
    reading_time: str
    """Such as "8 min", at 200 words a minute."""
    caught: Caught | None = None
    """Set when this is a wall, an error page or a shell and not the page itself; then only a bookmark is kept."""
    need_render: NeedRender | None = None
    """Set when a browser would show more."""
    selector: str | None = None
    """The selector by which level 2 found the content, worth remembering for the domain."""
    discarded_by: str | None = None
    """Id of the rule that discarded the page."""

    def with_warnings(self, *warnings: PageWarning) -> Page:
        """Return the page with more warnings in its trace."""
        return replace(self, trace=replace(self.trace, warnings=(*self.trace.warnings, *warnings)))

    def to_json(self) -> dict[str, Any]:
        """Everything but the trace, as plain JSON types, in a stable order."""
        return {
            "url": self.url,
            "title": self.metadata.title,
            "kind": self.kind,
            "strategy": self.strategy,
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
        }


def plain(value: Any) -> Any:
    """Dataclasses, mappings and tuples as dicts and lists (`dataclasses.asdict` cannot copy a mapping proxy)."""
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value
