"""The JSON shapes of the storage that a library takes."""

from __future__ import annotations

from pagekeep import model
from pagekeep.present.json_shapes import TypedDict, same_as, shape_of


@same_as(model.BlobUse)
class Use(TypedDict):
    """A number of files and their bytes on the disk."""


class Site(TypedDict):
    """A site and the bytes that its pages and files take."""

    domain: str
    bytes: int


@shape_of(
    model.Storage,
    files="blobs",
    sites=lambda storage: [{"domain": domain, "bytes": size} for domain, size in storage.sites],
)
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
