"""Find the files that a run reads, guess their formats by name, and name the records that they hold."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Literal

from pagekeep.capture.documents.file_types import FILE_TYPES, declared_type
from pagekeep.errors import NotFound, PagekeepError, TooLarge, UnsupportedContent

Format = Literal["warc", "parquet", "jsonl", "html"]
"""`html` means one page or document per file."""

_SUFFIXES: Final[dict[str, Format]] = {
    ".warc": "warc",
    ".arc": "warc",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    **{f".{end}": "html" for one in FILE_TYPES if not one.by_name for end in (one.suffix, *one.other_suffixes)},
}
"""Files that are read from a folder. Text is read only where it is named: corpora have texts beside their pages."""
BUFFER_BYTES: Final = 1_048_576
"""How much of a file is read at once."""
_COMPRESSED: Final = (".gz", ".zst", ".lz4")


@dataclass(frozen=True, slots=True)
class Input:
    """One file of a run."""

    path: str
    """The path to open, or an address for fsspec."""
    name: str
    """The name in the output: relative to the caller's folder, so that it is the same on every machine."""
    format: Format
    size: int | None = None
    """Bytes on disk; `None` when not known."""


def find_files(sources: Iterable[str]) -> tuple[Input, ...]:
    """Return all files at these paths, folders, patterns and addresses, in a stable order.

    Raises `NotFound` for a source without files that can be read.
    """
    inputs: dict[str, Input] = {}
    for source in sources:
        before = len(inputs)
        for item in _expand(source):
            inputs.setdefault(item.path, item)
        if len(inputs) == before:
            raise NotFound(
                f"Nothing to read was found at {source}.",
                suggestions=(
                    "Give WARC, Parquet, JSONL, HTML or document files, a folder of them, or a pattern in quotes.",
                ),
            )
    return tuple(inputs.values())


def _expand(source: str) -> Iterator[Input]:
    if "://" in source:
        yield from _expand_remote(source)
        return
    path = Path(source)
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and not _is_hidden(file, path))
        yield from _keep_known_formats((str(file), file.relative_to(path).as_posix()) for file in files)
    elif path.is_file():
        yield Input(str(path), path.name, _named_format(path.name) or _refuse(path.name), path.stat().st_size)
    else:
        found = sorted(glob.glob(source, recursive=True))
        yield from _keep_known_formats(((file, Path(file).name) for file in found), _named_format)


def _expand_remote(source: str) -> Iterator[Input]:
    try:
        import fsspec
    except ImportError as missing:
        raise UnsupportedContent(
            "Remote files need the package fsspec.",
            suggestions=("Install fsspec and the package for that storage, such as s3fs.",),
        ) from missing
    files = fsspec.open_files(source, "rb")
    yield from _keep_known_formats(
        (f"{source.partition('://')[0]}://{file.path}", Path(file.path).name) for file in files
    )


def _keep_known_formats(
    files: Iterable[tuple[str, str]], guess: Callable[[str], Format | None] | None = None
) -> Iterator[Input]:
    """Yield the files with a known format; a folder may contain other files too."""
    for path, name in files:
        if format_ := (guess or guess_format)(name):
            yield Input(path, name, format_, None if "://" in path else Path(path).stat().st_size)


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def guess_format(name: str) -> Format | None:
    """Return the format by the file's name, or `None` when it is not known."""
    return _SUFFIXES.get(Path(bare_name(name)).suffix.lower())


def _named_format(name: str) -> Format | None:
    """Return the format of a file that the caller named, which may be text too."""
    return guess_format(name) or ("html" if declared_type(bare_name(name)) else None)


def bare_name(name: str) -> str:
    """Return the name without the end that says how the file is compressed."""
    return name[: -len(Path(name).suffix)] if Path(name).suffix.lower() in _COMPRESSED else name


def _refuse(name: str) -> Format:
    raise UnsupportedContent(
        f"The format of {name} is not supported.",
        suggestions=("Give .warc, .warc.gz, .warc.zst, .parquet, .jsonl, .jsonl.gz, .html or document files.",),
    )


def open_binary(item: Input) -> IO[bytes]:
    """Open a file as it is stored; the caller decompresses it."""
    if "://" not in item.path:
        return Path(item.path).open("rb", buffering=BUFFER_BYTES)
    import fsspec

    stream: Any = fsspec.open(item.path, "rb").open()
    opened: IO[bytes] = stream
    return opened


@dataclass(frozen=True, slots=True)
class InputColumns:
    """The columns with the page and its address; `None` to try the usual names."""

    html: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A page to extract."""

    place: str
    """File and position; it identifies the record in the output."""
    url: str | None
    html: bytes | str
    encoding: str | None = None
    """The character set in the HTTP headers."""
    status: int | None = None
    content_type: str | None = None
    """As the server or the file's name declares it, for what the content cannot show."""

    @property
    def size(self) -> int:
        """Length of the page."""
        return len(self.html)


@dataclass(frozen=True, slots=True)
class RefusedRecord:
    """A record without a complete page. It has a row in the output like any other."""

    place: str
    url: str | None
    error: PagekeepError

    size = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A range of bytes in a local file: workers read it themselves, so that the bytes are not sent to them."""

    path: str
    start: int
    size: int

    def read(self) -> bytes:
        """Return the bytes; raise `OSError` when the file has been changed or removed."""
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.start)
            data = file.read(self.size)
        if len(data) < self.size:
            raise OSError("the file has become shorter")
        return data


@dataclass(frozen=True, slots=True)
class Line:
    """A line of JSON that the worker decodes, to take that load off the one process that feeds all workers."""

    place: str
    data: bytes | Span
    columns: InputColumns
    max_bytes: int

    @property
    def size(self) -> int:
        """Bytes of the line."""
        return len(self.data) if isinstance(self.data, bytes) else self.data.size


def check_size(place: str, url: str | None, size: int, max_bytes: int) -> RefusedRecord | None:
    """Return the refusal of a page that is too large, or `None`."""
    if size <= max_bytes:
        return None
    limit = f"{max_bytes / 1e6:g} MB"
    return RefusedRecord(place, url, TooLarge(f"The page is larger than {limit}.", suggestions=()))


def first_line(error: Exception) -> str:
    """Return what an error of a library says, in one line."""
    text = str(getattr(error, "strerror", None) or error).strip() or type(error).__name__
    return text.splitlines()[0][:200].rstrip(".")
