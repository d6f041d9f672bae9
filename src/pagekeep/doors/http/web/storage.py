"""`/settings/storage`: what pages, pictures and other kept files take, and freeing unused space."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.web.layout.page import ReadFrame, WriteFrame
from pagekeep.library.storage import measure_storage, remove_unused
from pagekeep.model import BlobUse, Storage

router = APIRouter()

_SITES_SHOWN: Final = 20
_GROUPS: Final = (
    ("Pictures", ("picture", "hero", "thumbnail")),
    ("Page copies", ("screenshot", "pdf", "page_copy", "resource", "wacz")),
)
"""Names of the groups that are shown, and the roles of files in each."""


@router.get("/settings/storage")
def storage(frame: ReadFrame, freed: int | None = None, files: int = 0) -> HTMLResponse:
    """Show what the library takes on the disk."""
    found = measure_storage(frame.library)
    parts = _parts(found)
    return frame.show(
        "storage.html",
        parts=parts,
        total=sum(use.bytes for _, use in parts),
        largest=max((use.bytes for _, use in parts), default=0) or 1,
        unused=found.unused,
        left_out=found.left_out,
        sites=found.sites[:_SITES_SHOWN],
        largest_site=found.sites[0][1] if found.sites else 1,
        keep_pictures=frame.service.settings.keep_pictures,
        limit=frame.service.settings.archive_bytes,
        files_bytes=found.blobs.bytes,
        freed=freed,
        freed_files=files,
    )


def _parts(found: Storage) -> list[tuple[str, BlobUse]]:
    """Return the groups with their files; what is in none of them is shown as other files."""
    raw, earlier = found.raw_pages, found.snapshots
    current = BlobUse(raw.count - earlier.count, raw.bytes - earlier.bytes)
    parts = [("Text", BlobUse(0, found.text)), ("Saved HTML", current), ("Earlier versions (snapshots)", earlier)]
    rest = found.blobs.bytes - found.unused.bytes
    for name, roles in _GROUPS:
        uses = [use for role, use in found.roles.items() if role in roles]
        group = BlobUse(sum(use.count for use in uses), sum(use.bytes for use in uses))
        rest -= group.bytes
        if group.count or name == "Pictures":
            parts.append((name, group))
    if rest > 0:
        parts.append(("Other files", BlobUse(0, rest)))
    return parts


@router.post("/settings/storage")
def free_space(frame: WriteFrame) -> Response:
    """Remove the kept files that no page uses."""
    done = remove_unused(frame.library, at_once=True)
    return RedirectResponse(f"/settings/storage?freed={done.bytes}&files={done.count}", 303)
