"""Renames that never replace a file: exchange two files, or move a file to a name that is free.

`os.replace` destroys whatever has the name at that moment, also what an editor has saved since we looked.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

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
