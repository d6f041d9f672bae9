"""The bodies of API responses: FastAPI checks every response against them. The objects in them are in `present.json_shapes`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from pagekeep.present import feed_shapes, history_shapes, json_shapes, sink_shapes
from pagekeep.present import feed_shapes as mail_shapes
from pagekeep.present.feed_shapes import MailSource
from pagekeep.present.history_shapes import Change, Diff, LinkCheck, Version, Watch, WholeVersion
from pagekeep.present.json_shapes import Annotation, Fault, Item, Job, Page, SavedItem, Token, WholeItem
from pagekeep.present.sink_shapes import Delivery, Sink, SinkKind


class OneItem(TypedDict):
    item: Item


class OneWholeItem(TypedDict):
    item: WholeItem


class OneSavedItem(TypedDict):
    item: SavedItem


class PerhapsAnItem(TypedDict):
    item: Item | None
    """Null if the page is not in the library."""


class OneJob(TypedDict):
    job: Job


class Jobs(TypedDict):
    jobs: list[Job]


class OnePage(TypedDict):
    page: Page


class Explanation(TypedDict):
    explanation: str
    """For people."""
    trace: dict[str, Any]
    """For programs."""
    page: Page


class Reparsed(TypedDict):
    outcome: Literal["updated", "unchanged", "kept", "failed"]
    note: str | None
    diff: list[str]
    """Lines of a unified diff of the Markdown."""
    item: Item


class Timestamped(TypedDict):
    time: str
    authority: str
    """The name in the service's certificate; anyone can choose one."""
    certificate: str
    """SHA-256 of the certificate; check that it is the one you know."""


class Verification(TypedDict):
    id: str
    url: str
    title: str
    state: Literal["verified", "unproven", "damaged", "differs", "failed"]
    """`unproven`: nothing is wrong, but not all of the text can be proven."""
    compared: list[
        Literal["signature", "timestamp", "raw_page", "text", "markdown", "frontmatter", "versions", "files"]
    ]
    """What was compared with its recorded hash, or with what the raw page gives."""
    reason: str | None
    message: str | None
    """What is wrong, or what could not be compared."""
    signed_by: str | None
    """The public key that signed the receipt of this text (Ed25519, Base64); check that it is the one you know."""
    timestamp: Timestamped | None
    """When a time stamp service says that this signature was there (RFC 3161)."""


class Purged(TypedDict):
    purged: int


class Health(TypedDict):
    status: Literal["ok"]


class Stats(TypedDict):
    stats: dict[str, Any]


class Rules(TypedDict):
    rules: list[dict[str, Any]]
    faults: list[Fault]


class Checked(TypedDict):
    good: bool
    rules: list[dict[str, Any]]
    faults: list[Fault]


class Tried(TypedDict):
    before: Page
    after: Page
    diff: list[str]
    """Lines of a unified diff of the Markdown."""
    matches: list[dict[str, Any]]
    """What each rule did."""
    idle: list[str]
    """IDs of rules that did not apply."""
    faults: list[Fault]


class OneAnnotation(TypedDict):
    annotation: Annotation


class Annotations(TypedDict):
    annotations: list[Annotation]


class Tokens(TypedDict):
    tokens: list[Token]


class NewToken(TypedDict):
    token: Token
    secret: str
    """Shown only in this response."""


class Versions(TypedDict):
    versions: list[Version]
    checked_at: str | None
    """When the page was last requested."""


class OneVersion(TypedDict):
    version: Version


class OneWholeVersion(TypedDict):
    version: WholeVersion


class OneDiff(TypedDict):
    diff: Diff


class OneWatch(TypedDict):
    watch: Watch


class Watches(TypedDict):
    watches: list[Watch]


class Changes(TypedDict):
    changes: list[Change]


class Seen(TypedDict):
    seen: int
    """Changes that were not seen before."""


class OneLinkCheck(TypedDict):
    check: LinkCheck


class OneMailSource(TypedDict):
    source: MailSource


class MailSources(TypedDict):
    sources: list[MailSource]


class OneSink(TypedDict):
    sink: Sink


class NewSink(TypedDict):
    sink: Sink
    secret: str | None
    """A secret that was made for it; null if it has none, or you gave it."""


class Sinks(TypedDict):
    sinks: list[Sink]
    kinds: list[SinkKind]


class SinkMessage(TypedDict):
    message: str


class SinkPairing(TypedDict):
    attempt: str
    """Needed with the code that the other program shows."""


class SinkCount(TypedDict):
    count: int


class Deliveries(TypedDict):
    deliveries: list[Delivery]


_CONFIG = with_config(ConfigDict(extra="allow", use_attribute_docstrings=True))
_SHAPES = (json_shapes, history_shapes, mail_shapes, feed_shapes, sink_shapes)
for _shape in (*(shape for module in _SHAPES for shape in vars(module).values()), *list(globals().values())):
    if isinstance(_shape, type) and hasattr(_shape, "__required_keys__"):
        _CONFIG(_shape)
