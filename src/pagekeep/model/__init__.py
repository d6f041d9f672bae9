"""The values that pass between rooms: all frozen, all documented field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagekeep.model.page import (
    DOCUMENT_FACTOR,
    KINDS,
    MADE_FIELDS,
    PARSER_VERSION,
    TEXT_FIELDS,
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
    MadeField,
    Media,
    Metadata,
    NeedRender,
    Options,
    Page,
    PageWarning,
    Quality,
    QualityLevel,
    Removal,
    RuleEffect,
    RuleFault,
    RuleMatch,
    Strategy,
    TextField,
    Trace,
    WarningCode,
    plain,
)

if TYPE_CHECKING:
    from pagekeep.model.accounts import (
        DIALECTS,
        FEED,
        PAIRING,
        PUBLISHED,
        REFRESH,
        SCOPES,
        Purpose,
        Scope,
        Session,
        Token,
        User,
    )
    from pagekeep.model.archive import (
        BlobRole,
        BlobUse,
        Change,
        Collected,
        ItemBlob,
        LeftOut,
        PageCheck,
        Retention,
        Schedule,
        Snapshot,
        Storage,
    )
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
        MailFolder,
        MailPosition,
        MailSource,
        NewEntry,
        PollOutcome,
        PublishedFeed,
    )
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
else:

    def __getattr__(name: str) -> object:
        """Import the values of the library and its users when one is first used: a page can be extracted without them."""
        if name[0].isupper() or name == "item_filters":  # others are modules
            from pagekeep.model import accounts, archive, feeds, library

            for module in (library, archive, accounts, feeds):
                if hasattr(module, name):
                    return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
