"""`/settings`: appearance, account, storage, and the version and licences of the parts."""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from fastapi import APIRouter, Depends, Form
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pagekeep.doors.http.caller import require_no_token, session_of, set_session
from pagekeep.doors.http.middleware.origins import own_path
from pagekeep.doors.http.web.layout import CHOICES, COOKIE, Appearance, Frame, ReadFrame, WriteFrame
from pagekeep.errors import NotAllowed, PagekeepError
from pagekeep.identity import accounts
from pagekeep.library.open import remove_unused
from pagekeep.model import BlobUse, Session, Storage
from pagekeep.version import __version__

router = APIRouter()
_YEAR_SECONDS: Final = 31_536_000


@router.get("/settings")
def settings(frame: ReadFrame) -> HTMLResponse:
    """Show the appearance, and where the other settings are."""
    return frame.show("settings/appearance.html")


@router.get("/settings/account")
def account(frame: ReadFrame, password: str = "") -> HTMLResponse:
    """Show the account: password and sessions."""
    return _show_account(frame, changed=password == "changed")


def _show_account(frame: Frame, **values: Any) -> HTMLResponse:
    return frame.show(
        "settings/account.html",
        sessions=_list_sessions(frame),
        shared=frame.service.shared,
        min_password=accounts.MIN_PASSWORD_CHARS,
        **{"problem": None, "changed": False, **values},
    )


def _list_sessions(frame: Frame) -> list[tuple[Session, bool]]:
    """Return the user's sessions and whether each is this one; nothing for callers who are not signed in."""
    if frame.caller.by != "session":
        return []
    current = session_of(frame.request)
    sessions = accounts.sessions(frame.service.accounts, frame.caller.user_id)
    return [(session, accounts.is_session(session, current)) for session in sessions]


@router.post("/settings/look")
def set_appearance(
    frame: WriteFrame,
    theme: Annotated[str, Form()] = "",
    size: Annotated[str, Form()] = "",
    width: Annotated[str, Form()] = "",
    font: Annotated[str, Form()] = "",
    back: Annotated[str, Form()] = "/settings",
) -> Response:
    """Store the appearance in a cookie, for browsers without JavaScript."""
    submitted = {"theme": theme, "size": size, "width": width, "font": font}
    valid = {name: value for name, value in submitted.items() if value in CHOICES[name]}
    current = {name: getattr(frame.appearance, name) for name in CHOICES}
    response = RedirectResponse(own_path(back), 303)
    secure = frame.request.url.scheme == "https"
    # Our script also sets this cookie, so it is not HttpOnly; it contains no personal data.
    response.set_cookie(
        COOKIE, Appearance(**{**current, **valid}).to_cookie(), max_age=_YEAR_SECONDS, samesite="lax", secure=secure
    )
    return response


@router.post("/settings/password", dependencies=[Depends(require_no_token)])
def change_password(
    frame: WriteFrame,
    old: Annotated[str, Form(max_length=1_000)],
    new: Annotated[str, Form(max_length=1_000)],
    again: Annotated[str, Form(max_length=1_000)],
) -> Response:
    """Change the password and end all other sessions."""
    service, request = frame.service, frame.request
    address = request.client.host if request.client else ""
    try:
        if new != again:
            raise NotAllowed("The new passwords do not match.", suggestions=("Enter the same password twice.",))
        _, session = accounts.change_password(service.accounts, frame.caller.user_id, old, new, address)
    except PagekeepError as error:
        return _show_account(frame, problem=error)
    response = RedirectResponse("/settings/account?password=changed", 303)
    set_session(response, request, session)
    return response


@router.post("/settings/sessions/{key}/end", dependencies=[Depends(require_no_token)])
def end_session(frame: WriteFrame, key: str) -> Response:
    """End one session of the user."""
    frame.service.accounts.end_session(frame.caller.user_id, key)
    return RedirectResponse("/settings/account", 303)


_SITES_SHOWN: Final = 20
_GROUPS: Final = (
    ("Pictures", ("picture", "hero", "thumbnail")),
    ("Page copies", ("screenshot", "pdf", "page_copy", "resource", "wacz")),
)
"""Names of the groups that are shown, and the roles of files in each."""


@router.get("/settings/storage")
def storage(frame: ReadFrame, freed: int | None = None, files: int = 0) -> HTMLResponse:
    """Show what the library takes on the disk."""
    found = frame.library.blobs.storage()
    parts = _kept_parts(found)
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


def _kept_parts(found: Storage) -> list[tuple[str, BlobUse]]:
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


_STATIC: Final = Path(__file__).parent / "static"
_NAME: Final = re.compile(r"[\w.-]+")
_FOR_DEVELOPERS: Final = re.compile(r"""extra == ["'](?:dev|train)["']""")
_MAX_LICENCE_CHARS: Final = 60
"""Some packages put the whole text into the field for the licence's name."""


class Part(NamedTuple):
    """A library that this installation uses."""

    name: str
    version: str
    licence: str


@router.get("/settings/about")
def about(frame: ReadFrame) -> HTMLResponse:
    """Show the version and the licences."""
    return frame.show("settings/about.html", version=__version__, parts=_licensed_parts(), files=_licence_files())


@cache
def _licensed_parts() -> tuple[Part, ...]:
    """Return the installed libraries that Pagekeep names as its dependencies, by name."""
    try:
        needed = metadata.requires("pagekeep") or []
    except metadata.PackageNotFoundError:  # run from a checkout that was never installed
        return ()
    used = [line for line in needed if not _FOR_DEVELOPERS.search(line)]
    names = {match.group().lower() for line in used if (match := _NAME.match(line))} - {"pagekeep"}
    found = []
    for name in sorted(names):
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:  # an optional part that is not installed
            continue
        found.append(Part(about["Name"], about["Version"], _licence(about)))
    return tuple(found)


def _licence(about: metadata.PackageMetadata) -> str:
    fields = about.json
    named = str(fields.get("license_expression") or fields.get("license") or "")
    if named and "\n" not in named and len(named) <= _MAX_LICENCE_CHARS:
        return named
    classes = [line for line in about.get_all("Classifier") or () if line.startswith("License ::")]
    return ", ".join(line.rpartition(":: ")[2] for line in classes) or "see the package"


@cache
def _licence_files() -> tuple[tuple[str, str], ...]:
    """Return the licences of files that are part of the reader, such as fonts, with their texts."""
    paths = sorted(path for path in _STATIC.rglob("*.txt") if re.search("licen[cs]e|ofl", path.name.lower()))
    return tuple((path.stem, path.read_text("utf-8")) for path in paths)
