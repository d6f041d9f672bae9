"""The JSON shapes of kept files and of the storage they take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from pagekeep import model

if TYPE_CHECKING:
    from typing import TypedDict
else:
    try:  # FastAPI needs this one before Python 3.12; without FastAPI the package may be missing, and either will do
        from typing_extensions import TypedDict
    except ImportError:
        from typing import TypedDict


class Picture(TypedDict):
    """A picture of an item, kept or left out."""

    url: str
    state: Literal["kept", "left_out", "missing"]
    """`missing` until it was downloaded, or tried to."""
    reason: str | None
    """Why it was left out, as a code such as `not_found`; of a kept picture `downscaled`, or null."""
    message: str | None
    """The reason in words."""
    main: bool
    """Whether it is the picture that represents the page."""
    media_type: str | None
    width: int | None
    height: int | None
    bytes: int | None
    hash: str | None
    """SHA-256 of the kept file."""


class Use(TypedDict):
    """A number of files and their bytes on the disk."""

    count: int
    bytes: int


class Site(TypedDict):
    """A site and the bytes that its pages and files take."""

    domain: str
    bytes: int


class StorageUse(TypedDict):
    """What a library takes on the disk, in bytes."""

    text: int
    raw_pages: Use
    snapshots: Use
    files: Use
    """All kept files, each once."""
    roles: dict[str, Use]
    """Kept files by role: `picture`, `hero`, `thumbnail`, `screenshot`..."""
    unused: Use
    """Files that no item uses; they are removed after a week."""
    left_out: int
    """Files that could not be kept."""
    sites: list[Site]
    """The sites that take most."""


def picture_shape(picture: model.ItemBlob, *, main: bool, message: str | None) -> Picture:
    """Return a picture."""
    return {
        "url": picture.source,
        "state": picture.state,
        "reason": picture.reason,
        "message": message or None,
        "main": main,
        "media_type": picture.media_type or None,
        "width": picture.width,
        "height": picture.height,
        "bytes": picture.size,
        "hash": picture.hash,
    }


def missing_shape(url: str, *, main: bool) -> Picture:
    """Return a picture that was not downloaded yet."""
    nothing = dict.fromkeys(("reason", "message", "media_type", "width", "height", "bytes", "hash"))
    return cast("Picture", {"url": url, "state": "missing", "main": main, **nothing})


def storage_shape(storage: model.Storage) -> StorageUse:
    """Return what a library takes."""
    return {
        "text": storage.text,
        "raw_pages": _use(storage.raw_pages),
        "snapshots": _use(storage.snapshots),
        "files": _use(storage.blobs),
        "roles": {role: _use(use) for role, use in storage.roles.items()},
        "unused": _use(storage.unused),
        "left_out": storage.left_out,
        "sites": [{"domain": domain, "bytes": size} for domain, size in storage.sites],
    }


def _use(use: model.BlobUse) -> Use:
    return {"count": use.count, "bytes": use.bytes}
