"""The values that pass between rooms: all frozen, all documented field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagekeep.model.page import (
    DOCUMENT_FACTOR,
    KINDS,
    PARSER_VERSION,
    Attempt,
    Caught,
    CaughtKind,
    Check,
    Colour,
    DocumentType,
    Doubt,
    EncodingSource,
    Fetched,
    Kind,
    Link,
    Media,
    Metadata,
    NeedRender,
    Options,
    Page,
    Quality,
    QualityLevel,
    Removal,
    Strategy,
    Trace,
    plain,
)
from pagekeep.model.rules import RuleEffect, RuleFault, RuleMatch
from pagekeep.model.warnings import PageWarning, WarningCode

if TYPE_CHECKING:
    from pagekeep.model.accounts import DIALECTS, FEED, PUBLISHED, REFRESH, SCOPES, Scope, Session, Token, User
    from pagekeep.model.archive import BlobRole, BlobUse, Collected, ItemBlob, LeftOut, Storage
    from pagekeep.model.feeds import (
        AddedEntries,
        Entry,
        EntryCounts,
        EntryPage,
        EntryQuery,
        EntryState,
        Feed,
        FeedContent,
        FeedKind,
        FeedSettings,
        FeedStatus,
        NewEntry,
        PollOutcome,
        PublishedFeed,
    )
    from pagekeep.model.history import Change, PageCheck, Retention, Schedule, Snapshot
    from pagekeep.model.library import (
        DERIVED_METADATA,
        Annotation,
        Filter,
        FilterName,
        Hit,
        Item,
        ItemMetadata,
        ItemPage,
        ItemQuery,
        Job,
        JobState,
        MetadataChanges,
        NewItem,
        Order,
        PutResult,
        RawPage,
        SaveResult,
        Term,
        item_filters,
    )
    from pagekeep.model.mail import MailFolder, MailPosition, MailSource
else:

    def __getattr__(name: str) -> object:
        """Import the values of the library and its users when one is first used: a page can be extracted without them."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pagekeep.model import accounts, archive, feeds, history, library, mail

        return getattr(
            next(room for room in (library, archive, history, accounts, feeds, mail) if hasattr(room, name)), name
        )


__all__ = [
    "DERIVED_METADATA",
    "DIALECTS",
    "DOCUMENT_FACTOR",
    "FEED",
    "KINDS",
    "PARSER_VERSION",
    "PUBLISHED",
    "REFRESH",
    "SCOPES",
    "AddedEntries",
    "Annotation",
    "Attempt",
    "BlobRole",
    "BlobUse",
    "Caught",
    "CaughtKind",
    "Change",
    "Check",
    "Collected",
    "Colour",
    "DocumentType",
    "Doubt",
    "EncodingSource",
    "Entry",
    "EntryCounts",
    "EntryPage",
    "EntryQuery",
    "EntryState",
    "Feed",
    "FeedContent",
    "FeedKind",
    "FeedSettings",
    "FeedStatus",
    "Fetched",
    "Filter",
    "FilterName",
    "Hit",
    "Item",
    "ItemBlob",
    "ItemMetadata",
    "ItemPage",
    "ItemQuery",
    "Job",
    "JobState",
    "Kind",
    "LeftOut",
    "Link",
    "MailFolder",
    "MailPosition",
    "MailSource",
    "Media",
    "Metadata",
    "MetadataChanges",
    "NeedRender",
    "NewEntry",
    "NewItem",
    "Options",
    "Order",
    "Page",
    "PageCheck",
    "PageWarning",
    "PollOutcome",
    "PublishedFeed",
    "PutResult",
    "Quality",
    "QualityLevel",
    "RawPage",
    "Removal",
    "Retention",
    "RuleEffect",
    "RuleFault",
    "RuleMatch",
    "SaveResult",
    "Schedule",
    "Scope",
    "Session",
    "Snapshot",
    "Storage",
    "Strategy",
    "Term",
    "Token",
    "Trace",
    "User",
    "WarningCode",
    "item_filters",
    "plain",
]
