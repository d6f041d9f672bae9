"""The mirror's folder: its Markdown files, their pictures, and renames that never replace a file."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Final

from pagekeep.errors import NotFound, ParseError, StoreError
from pagekeep.library.archive.pictures import list_pictures, normal_source, replace_picture_urls
from pagekeep.library.exports import markdown_files
from pagekeep.library.exports.markdown_files import Document
from pagekeep.library.exports.selection import ENDINGS, PICTURE_FOLDER, PICTURE_SOURCES
from pagekeep.model import ItemBlob
from pagekeep.store import Store
from pagekeep.store.storable import url_hash

MAX_FILE_BYTES: Final = 20_000_000
MIN_AGE_NS: Final = 2_000_000_000
"""Programs on network disks empty a file and write it 0.3 seconds later, and some file systems store times to two seconds:
a file this new may be half written, or change again without a new time."""


@dataclass(frozen=True, slots=True)
class FileStat:
    """A file as the folder lists it."""

    path: str
    size: int
    mtime: int
    """In nanoseconds."""
    inode: int = field(default=0, compare=False)


def digest(data: bytes) -> str:
    """Return a hash of the bytes."""
    return hashlib.sha256(data).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file that was read."""

    stat: FileStat
    digest: str
    document: Document | None
    """`None` when it cannot be read."""
    fault: str = ""
    """Why it cannot be read."""
    data: bytes = b""


def digest_body(body: str) -> str:
    """Return a hash of the Markdown, ignoring blank lines at its ends."""
    return digest(body.strip("\n").encode("utf-8", "replace"))


def is_young(stat: FileStat, now: int) -> bool:
    """Return whether the file changed so recently that a program may still be writing it."""
    return abs(now - stat.mtime) < MIN_AGE_NS


def list_files(folder: Path) -> Iterator[FileStat]:
    """Yield every Markdown file in order of name, without hidden files and symbolic links."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and name.lower().endswith(".md"):
                path = os.path.join(parent, name)
                stat = stat_file(folder, os.path.relpath(path, folder).replace(os.sep, "/"))
                if stat is not None:
                    yield stat


def stat_file(folder: Path, path: str) -> FileStat | None:
    """Return size and time of a file, or `None` when it does not exist or is a symbolic link."""
    try:
        stat = os.lstat(folder / path)
    except OSError:
        return None
    return FileStat(path, stat.st_size, stat.st_mtime_ns, stat.st_ino) if S_ISREG(stat.st_mode) else None


def read_file(folder: Path, stat: FileStat) -> FileContent | None:
    """Return the content of a file, or `None` when it has been removed."""
    if stat.size > MAX_FILE_BYTES:
        return FileContent(stat, "", None, f"The file is too large: the limit is {MAX_FILE_BYTES // 1_000_000} MB.")
    try:
        data = (folder / stat.path).read_bytes()
    except OSError:
        return None
    try:
        return FileContent(stat, digest(data), read_document(folder, data.decode("utf-8")), data=data)
    except UnicodeDecodeError:
        return FileContent(stat, digest(data), None, "The file is not UTF-8 text.", data)
    except ParseError as error:
        return FileContent(stat, digest(data), None, error.message, data)


def read_document(folder: Path, text: str) -> Document:
    """Return the parts of a file, with the web addresses of its pictures; raise `ParseError` as `markdown_files.read` does."""
    return markdown_files.read(show_addresses(folder, text))


_LOCAL: Final = re.compile(r"(?:\.{1,2}/)*(images/[0-9a-f]{16}-[0-9a-f]{8}\.[a-z]{3,4})")
_MAX_SOURCES_BYTES: Final = 200_000_000


def show_copies(store: Store, folder: Path, item_id: str, path: str, text: str) -> str:
    """Return the text of a file at `path` with the kept pictures in place of their web addresses, and write these pictures."""
    kept = {link.source: link for link in list_pictures(store, item_id) if link.hash and link.media_type in ENDINGS}
    if not kept:
        return text
    used: dict[str, str] = {}
    up = "../" * path.count("/")

    def replace(url: str) -> str | None:
        link = kept.get(normal_source(url))
        if link is None:
            return None
        name = f"{PICTURE_FOLDER}/{_name(link, url)}"
        if name not in used and not _write(store, folder / name, link):
            return None
        used[name] = url
        return f"{up}{name}"

    text = replace_picture_urls(text, lambda url: replace(url) or url)
    _note_sources(folder, used)
    return text


def show_addresses(folder: Path, text: str) -> str:
    """Return the text of a file with web addresses in place of the pictures that the mirror wrote."""
    if f"{PICTURE_FOLDER}/" not in text:
        return text
    sources = _sources(folder)

    def replace(url: str) -> str:
        local = _LOCAL.fullmatch(url)
        return sources.get(local[1], url) if local else url

    return replace_picture_urls(text, replace)


def _name(link: ItemBlob, url: str) -> str:
    """Return a file name that no other content and no other address has, so that the address is known from it."""
    return f"{str(link.hash)[:16]}-{url_hash(url)[:8]}{ENDINGS[link.media_type]}"


def _write(store: Store, path: Path, link: ItemBlob) -> bool:
    """Write a picture unless it is there; return False when the library has lost it."""
    if path.is_file():
        return True
    try:
        data = store.blobs.get(str(link.hash))
    except (NotFound, StoreError):
        return False
    path.parent.mkdir(exist_ok=True)
    draft = path.with_name(f".{path.name}.part")
    draft.write_bytes(data)
    try:
        if not move_to_free_name(draft, path):
            os.replace(draft, path)
    except FileExistsError:  # put there meanwhile
        draft.unlink()
    return True


def _note_sources(folder: Path, used: dict[str, str]) -> None:
    """Add the addresses of pictures to the list in the folder, before a file refers to them."""
    known = _sources(folder)
    if used.items() <= known.items():
        return
    path = folder / PICTURE_SOURCES
    draft = path.with_name(".sources.part")
    draft.write_text(json.dumps({**known, **used}, indent=1, sort_keys=True) + "\n", "utf-8")
    os.replace(draft, path)


def _sources(folder: Path) -> dict[str, str]:
    path = folder / PICTURE_SOURCES
    try:
        about = path.stat()
    except OSError:
        return {}
    return _read_sources(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=4)
def _read_sources(path: Path, _changed: int, size: int) -> dict[str, str]:
    if size > _MAX_SOURCES_BYTES:
        return {}
    try:
        sources = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(url) for name, url in sources.items()} if isinstance(sources, dict) else {}


_NO_REPLACE: Final = 4 if sys.platform == "darwin" else 1
"""`RENAME_EXCL` of macOS, `RENAME_NOREPLACE` of Linux."""
_EXCHANGE: Final = 2
"""`RENAME_SWAP` of macOS, `RENAME_EXCHANGE` of Linux."""
_AT_FDCWD: Final = -100
_SYSCALLS: Final = {"x86_64": 316, "aarch64": 276, "riscv64": 276}
"""Numbers of `renameat2`, for C libraries without a function for it."""
_UNSUPPORTED: Final = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}
"""Answers of systems and file systems without these renames; sandboxes answer EPERM to calls that they do not know."""


def exchange(one: Path, other: Path) -> bool:
    """Exchange two files in one step; return false where the system or the file system cannot.

    A program that watches the folder of `one` is notified that it went away and then that it came.
    """
    return _rename_with(_EXCHANGE, one, other)


def move_to_free_name(source: Path, target: Path) -> bool:
    """Rename a file; raise `FileExistsError` when there is a file of the new name, return false where neither can be done."""
    if sys.platform == "win32":
        os.rename(source, target)  # never replaces a file there
        return True
    if _rename_with(_NO_REPLACE, source, target):
        return True
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOENT, errno.EXDEV):
            raise
        return False  # file systems without hard links answer in many ways
    source.unlink()
    return True


def _rename_with(flag: int, old: Path, new: Path) -> bool:
    """Rename with a flag; return false where the system or the file system has no such flag."""
    if _RENAME is None:
        return False
    if _RENAME(os.fsencode(old), os.fsencode(new), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(old), None, str(new))


def _find_rename() -> Callable[[bytes, bytes, int], int] | None:
    """Return the system's rename with flags, or `None` when it has none."""
    if sys.platform not in ("linux", "darwin"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin":
        rename: Callable[[bytes, bytes, int], int] | None = getattr(library, "renamex_np", None)
        return rename
    if (call := getattr(library, "renameat2", None)) is not None:
        return lambda old, new, flag: int(call(_AT_FDCWD, old, _AT_FDCWD, new, flag))
    number = _SYSCALLS.get(platform.machine()) if sys.maxsize > 2**32 else None
    if number is None:
        return None
    return lambda old, new, flag: int(library.syscall(number, _AT_FDCWD, old, _AT_FDCWD, new, flag))


_RENAME: Final = _find_rename()
