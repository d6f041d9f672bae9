"""The bodies of API responses: FastAPI checks every response against them. The objects in them are in `present.json_shapes`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from pagekeep.present import feed_shapes, history_shapes, json_shapes, sink_shapes
from pagekeep.present.feed_shapes import MailSource
from pagekeep.present.history_shapes import Change, Diff, LinkCheck, Version, Watch, WholeVersion
from pagekeep.present.json_shapes import Annotation, Fault, Item, Job, Page, SavedItem, Token, WholeItem
from pagekeep.present.sink_shapes import Delivery, Sink, SinkKind

# One object or one list, under its name.
OneItem = TypedDict("OneItem", {"item": Item})
OneWholeItem = TypedDict("OneWholeItem", {"item": WholeItem})
OneSavedItem = TypedDict("OneSavedItem", {"item": SavedItem})
OneJob = TypedDict("OneJob", {"job": Job})
Jobs = TypedDict("Jobs", {"jobs": list[Job]})
OnePage = TypedDict("OnePage", {"page": Page})
Purged = TypedDict("Purged", {"purged": int})
Health = TypedDict("Health", {"status": Literal["ok"]})
Stats = TypedDict("Stats", {"stats": dict[str, Any]})
Rules = TypedDict("Rules", {"rules": list[dict[str, Any]], "faults": list[Fault]})
Checked = TypedDict("Checked", {"good": bool, "rules": list[dict[str, Any]], "faults": list[Fault]})
OneAnnotation = TypedDict("OneAnnotation", {"annotation": Annotation})
Annotations = TypedDict("Annotations", {"annotations": list[Annotation]})
Tokens = TypedDict("Tokens", {"tokens": list[Token]})
OneVersion = TypedDict("OneVersion", {"version": Version})
OneWholeVersion = TypedDict("OneWholeVersion", {"version": WholeVersion})
OneDiff = TypedDict("OneDiff", {"diff": Diff})
OneWatch = TypedDict("OneWatch", {"watch": Watch})
Watches = TypedDict("Watches", {"watches": list[Watch]})
Changes = TypedDict("Changes", {"changes": list[Change]})
OneLinkCheck = TypedDict("OneLinkCheck", {"check": LinkCheck})
OneMailSource = TypedDict("OneMailSource", {"source": MailSource})
MailSources = TypedDict("MailSources", {"sources": list[MailSource]})
OneSink = TypedDict("OneSink", {"sink": Sink})
Sinks = TypedDict("Sinks", {"sinks": list[Sink], "kinds": list[SinkKind]})
SinkMessage = TypedDict("SinkMessage", {"message": str})
SinkCount = TypedDict("SinkCount", {"count": int})
Deliveries = TypedDict("Deliveries", {"deliveries": list[Delivery]})


class PerhapsAnItem(TypedDict):
    item: Item | None
    """Null if the page is not in the library."""


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


class NewToken(TypedDict):
    token: Token
    secret: str
    """Shown only in this response."""


class Versions(TypedDict):
    versions: list[Version]
    checked_at: str | None
    """When the page was last requested."""


class Seen(TypedDict):
    seen: int
    """Changes that were not seen before."""


class NewSink(TypedDict):
    sink: Sink
    secret: str | None
    """A secret that was made for it; null if it has none, or you gave it."""


class SinkPairing(TypedDict):
    attempt: str
    """Needed with the code that the other program shows."""


_CONFIG = with_config(ConfigDict(extra="allow", use_attribute_docstrings=True))
_SHAPES = (json_shapes, history_shapes, feed_shapes, sink_shapes)
for _shape in (*(shape for module in _SHAPES for shape in vars(module).values()), *list(globals().values())):
    if isinstance(_shape, type) and hasattr(_shape, "__required_keys__"):
        _CONFIG(_shape)
