"""The values that travel through the house: all frozen, all documented field by field."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal


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

Level = Literal["article", "simplified", "bookmark", "discarded"]
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
    level: Level
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


@dataclass(frozen=True, slots=True)
class RuleDeed:
    """One thing a rule did: what, by which selector, to how many elements with how many words."""

    what: str
    """`remove`, `include`, `scope`, `metadata`, `rendering`, `quality`, `discard` or an action's `op`."""
    selector: str
    count: int
    """Elements found; 0 when the selector found nothing."""
    words: int
    """Words in those elements."""
    note: str = ""
    """Anything worth saying, such as "matched nothing, ignored"."""


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """A rule that applied to the page."""

    id: str
    phase: Literal["pre", "post"]
    trigger: str
    """What set it off, in plain words: `host ends with wsj.com`, `found .swiper-slide`."""
    deeds: tuple[RuleDeed, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleFault:
    """Something wrong in a file of rules, and where."""

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
        """One line for people: where, what, and what to do."""
        where = f"{self.file}:{self.line}: " + (f"{self.path}: " if self.path else "")
        return where + self.message + (f" {self.suggestion}" if self.suggestion else "")


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything `--explain` tells. Recomputed from the page at any time, so never stored."""

    document_type: DocumentType = "html5"
    kind_reasons: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    removals: tuple[Removal, ...] = ()
    rules: tuple[RuleMatch, ...] = ()
    """Rules that matched, in the order they ran."""
    notes: tuple[str, ...] = ()
    """Anything else worth saying: a flattened nest, a truncated page, a guessed encoding."""
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
    """Frontmatter and Markdown: the file to keep."""
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


# The library.


@dataclass(frozen=True, slots=True)
class Item:
    """A page in someone's library."""

    id: str
    """UUID as text."""
    user_id: str
    url: str
    """Normalised: what makes two saves the same page."""
    url_full: str
    """As the user gave it."""
    domain: str
    title: str
    content: str
    """Frontmatter and Markdown."""
    source: str
    """Where it came from: `web`, `html` (posted), `import:pocket`..."""
    author: str | None
    saved_at: str
    published_at: str | None
    metadata: Mapping[str, Any]
    """pinned, archived, tags, parser_version, used_js_rendering, content_hash, quality, strategy, retry_count, discarded..."""
    created_at: str
    updated_at: str
    last_opened_at: str | None = None
    deleted_at: str | None = None


@dataclass(frozen=True, slots=True)
class RawPage:
    """The page as it was fetched, kept beside its item so that it can be read again with a better parser."""

    body: bytes
    encoding: str | None
    content_type: str
    final_url: str
    status: int
    rendered: bool
    fetched_at: str
    etag: str | None = None
    last_modified: str | None = None


Put = Literal["added", "updated", "unchanged"]
"""What became of a page that was put in."""


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """Which items to list. The defaults show the inbox: neither archived nor deleted."""

    domain: str | None = None
    tags: tuple[str, ...] = ()
    """All of them."""
    pinned: bool | None = None
    archived: bool | None = False
    deleted: bool = False
    quality: Level | None = None
    saved_after: str | None = None
    saved_before: str | None = None


@dataclass(frozen=True, slots=True)
class ItemPage:
    """One page of a list, and where the next begins."""

    items: tuple[Item, ...]
    next: str | None
    """Opaque key for the next page; `None` at the end."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An item that a search found."""

    item: Item
    snippet: str
    """Text around the words found, those between `[[` and `]]`."""
    rank: float


@dataclass(frozen=True, slots=True)
class HitPage:
    """One page of hits, best first, and where the next begins."""

    hits: tuple[Hit, ...]
    next: str | None


JobState = Literal["queued", "running", "done", "dead"]


@dataclass(frozen=True, slots=True)
class Job:
    """A save, or another task, that waits for a worker. At most one unfinished job a user and normalised URL."""

    id: str
    user_id: str
    url: str
    """Normalised."""
    url_full: str
    options: Mapping[str, Any]
    """render, tags...; `task` where it is no save."""
    state: JobState
    attempts: int
    error: Mapping[str, Any] | None
    """JSON form of the last failure."""
    run_after: str
    """Not before this moment (backoff)."""
    leased_by: str | None
    leased_until: str | None
    created_at: str


@dataclass(frozen=True, slots=True)
class Session:
    """Somewhere that a user is signed in."""

    id: str
    """By which it is ended; nobody gets in with it."""
    created_at: str
    expires_at: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """A passage the reader marked, found again by its words: positions would not survive a new reading of the page."""

    id: str
    """UUID as text."""
    item_id: str
    quote: str
    """The marked words; empty for a note on the whole page."""
    before: str
    """A few words before them, and after them, to tell equal passages apart."""
    after: str
    note: str
    colour: str | None
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A page to be put in with others: what it is, and what belongs to it."""

    item: Item
    raw: RawPage | None = None
    annotations: tuple[Annotation, ...] = ()
    """Their `item_id` follows the item."""


# People on a shared server.

Scope = Literal["read", "write"]
SCOPES: tuple[Scope, ...] = ("read", "write")
"""What a token may do: look, or also save and change."""


@dataclass(frozen=True, slots=True)
class User:
    """Someone with a library of their own on a shared server."""

    id: str
    """UUID as text; the `user_id` of the library."""
    name: str
    password: str | None
    """Argon2 hash; `None` when nobody can sign in with a password."""
    disabled: bool
    created_at: str


@dataclass(frozen=True, slots=True)
class Token:
    """Lets a program act for a user. The token itself was shown once; only its digest is kept."""

    id: str
    user_id: str
    name: str
    scopes: tuple[Scope, ...]
    created_at: str
    last_used_at: str | None
    expires_at: str | None
