"""The settings: one table, read from the defaults, a file, the environment and the caller, each winning over the former.

The fields of `Settings` are the table. A field `per_host_delay` is the key `per_host_delay` in config.toml and the
variable `PAGEKEEP_PER_HOST_DELAY`. What is unknown or cannot be read is refused, with its name and where it stood.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, NoReturn, cast

from pagekeep.errors import NotFound, ParseError
from pagekeep.version import __version__

PREFIX: Final = "PAGEKEEP_"
PATH_VARIABLE: Final = "PAGEKEEP_CONFIG"
"""Names another config.toml. Where the settings stand is no setting."""


class Setting(NamedTuple):
    """A row of the table."""

    name: str
    kind: str
    """What is to be written, in a word or two."""
    default: Any
    help: str
    variable: str


class _Reader(NamedTuple):
    """How a value is read from text (environment, command line) or from a typed value (TOML, Python)."""

    kind: str
    read: Callable[[object], object]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError
    number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError
    return number


def _positive(value: object) -> float:
    number = _number(value)
    if number == 0:
        raise ValueError
    return number


def _whole(value: object) -> int:
    number = int(value.replace("_", "")) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError
    return number


def _whole_positive(value: object) -> int:
    number = _whole(value)
    if number == 0:
        raise ValueError
    return number


def _text(value: object) -> str:
    if not isinstance(value, (str, Path)) or not str(value).strip() or not str(value).isprintable():
        raise ValueError
    return str(value).strip()


def _list(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, (list, tuple)):
        raise ValueError
    return tuple(_text(item) for item in value if item != "")


def _switch(value: object) -> bool:
    if isinstance(value, str):
        value = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(value.lower())
    if not isinstance(value, bool):
        raise ValueError
    return value


def _render(value: object) -> str:
    if value not in ("auto", "force", "never"):
        raise ValueError
    return str(value)


def _log_level(value: object) -> str:
    if value not in ("debug", "info", "warning", "error"):
        raise ValueError
    return str(value)


def _mode(value: object) -> str:
    if value not in ("local", "remote", "compare", "fallback"):
        raise ValueError
    return str(value)


_SECONDS = _Reader("seconds above 0", _positive)
_PAUSE = _Reader("seconds, 0 or more", _number)
_COUNT = _Reader("a whole number, 0 or more", _whole)
_AMOUNT = _Reader("a whole number above 0", _whole_positive)
_TEXT = _Reader("text", _text)
_LIST = _Reader("a list of texts", _list)
_SWITCH = _Reader("true or false", _switch)
_RENDER = _Reader("auto, force or never", _render)
_LOG_LEVEL = _Reader("debug, info, warning or error", _log_level)
_MODE = _Reader("local, remote, compare or fallback", _mode)


def _setting(default: Any, reader: _Reader, help: str, *, secret: bool = False) -> Any:
    return field(default=default, repr=not secret, metadata={"reader": reader, "help": help})


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything an owner may choose. Travels whole; made by `load`, or directly in a program."""

    allow_hosts: tuple[str, ...] = _setting(
        (),
        _LIST,
        "Hosts that may be fetched although they are not on the public internet: names, `*.example.com`, IP addresses, "
        "networks such as `10.0.0.0/8`. All others are refused.",
    )
    user_agent: str = _setting(
        f"Pagekeep/{__version__} (saves a page for one reader)", _TEXT, "How Pagekeep names itself to servers."
    )
    timeout: float = _setting(15.0, _SECONDS, "Time for a page in all, redirects and retries included.")
    max_bytes: int = _setting(10_000_000, _AMOUNT, "Largest page, in bytes after decompression.")
    max_redirects: int = _setting(10, _COUNT, "Redirects that are followed.")
    per_host_connections: int = _setting(4, _AMOUNT, "Pages fetched from one host at the same time.")
    per_host_delay: float = _setting(0.25, _PAUSE, "Time between the beginnings of two fetches from one host.")
    retries: int = _setting(2, _COUNT, "Further tries when a server is busy (429, 502, 503, 504) or hangs up.")
    render: Literal["auto", "force", "never"] = _setting(
        "auto", _RENDER, "When to open a page in the browser: when it needs it, always or never."
    )
    render_timeout: float = _setting(30.0, _SECONDS, "Time for a page in the browser in all.")
    chromium: str | None = _setting(None, _TEXT, "Path of the browser. Without it the usual places are searched.")
    browser_pages: int = _setting(100, _AMOUNT, "Pages after which the browser is started anew.")
    library: str | None = _setting(
        None,
        _TEXT,
        "Where saved pages are kept: a file, or the `postgresql://` address of a server. Without it, a file in the "
        "platform's data folder.",
    )
    user: str = _setting("local", _TEXT, "Whose library, where one file or server holds several.")
    keep_raw: bool = _setting(
        True, _SWITCH, "Keep each page as it was fetched, so that it can be read again by a better parser."
    )
    rules: str | None = _setting(
        None, _TEXT, "Folder of your own rules (`*.yaml`). Without it, `rules` in the platform's configuration folder."
    )
    mode: Literal["local", "remote", "compare", "fallback"] = _setting(
        "local",
        _MODE,
        "Who reads the pages that are saved: Pagekeep; the remote reader; both, to compare them; or the remote reader where "
        "Pagekeep fails. But for `local`, addresses of pages go to `remote_url`.",
    )
    remote_url: str | None = _setting(
        None, _TEXT, "Address of a remote reader with Jina's conventions, such as `http://127.0.0.1:8470/r/`."
    )
    remote_key: str | None = _setting(None, _TEXT, "Key for the remote reader.", secret=True)
    remote_timeout: float = _setting(60.0, _SECONDS, "Time for a page from the remote reader.")
    listen: str = _setting("127.0.0.1:8470", _TEXT, "Where `pagekeep serve` listens: address and port.")
    server_names: tuple[str, ...] = _setting(
        (),
        _LIST,
        "Names under which the server is reached, such as `pages.example.org`. Requests for others are refused.",
    )
    shared: bool = _setting(
        False, _SWITCH, "The server is for several people, who sign in. Without it, it listens on this machine alone."
    )
    log_level: Literal["debug", "info", "warning", "error"] = _setting(
        "info", _LOG_LEVEL, "From which level on the server writes to its log."
    )
    import_bytes: int = _setting(500_000_000, _AMOUNT, "Largest file that the server takes for an import, in bytes.")
    image_cache: int = _setting(500_000_000, _COUNT, "Bytes on disk for pictures of saved pages; 0 keeps none.")


_READERS: Final[dict[str, _Reader]] = {entry.name: entry.metadata["reader"] for entry in fields(Settings)}


def table() -> tuple[Setting, ...]:
    """All settings, for the generated reference."""
    return tuple(
        Setting(
            entry.name,
            entry.metadata["reader"].kind,
            entry.default,
            entry.metadata["help"],
            PREFIX + entry.name.upper(),
        )
        for entry in fields(Settings)
    )


def load(
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] = os.environ,
    path: Path | None = None,
) -> Settings:
    """The settings in force: flag over environment over file over default.

    A flag that is `None` was not given. Without `path` the file is the one `PAGEKEEP_CONFIG` names, or `config.toml` in
    the platform's configuration folder if there is one. Raises `ParseError` for a fault, `NotFound` for a missing file.
    """
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    chosen = {
        **_read(_file(environ, path), "config.toml"),
        **_read(_variables(environ), "the environment", PREFIX),
        **_read(given, "the call"),
    }
    return Settings(**cast("dict[str, Any]", chosen))


def default_path(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Where `config.toml` is looked for when nobody says otherwise."""
    if platform == "win32":
        base = Path(environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return base / "pagekeep" / "config.toml"


def settings_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The settings file in force; it need not be there."""
    return Path(environ[PATH_VARIABLE]) if environ.get(PATH_VARIABLE) else default_path(environ)


def rules_folder(settings: Settings, environ: Mapping[str, str] = os.environ) -> Path:
    """Where the owner's own rules are; it need not be there."""
    return Path(settings.rules) if settings.rules else default_path(environ).with_name("rules")


def _file(environ: Mapping[str, str], path: Path | None) -> Mapping[str, object]:
    named = path or (Path(environ[PATH_VARIABLE]) if environ.get(PATH_VARIABLE) else None)
    try:
        data = (named or default_path(environ)).read_bytes()
    except OSError as error:
        if named is None and isinstance(error, (FileNotFoundError, NotADirectoryError)):
            return {}
        if named is not None and isinstance(error, FileNotFoundError):
            raise NotFound(f"There is no settings file {named}.") from None
        raise ParseError("The settings file cannot be read.", suggestions=("Check who may read it.",)) from None
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParseError(f"config.toml is no valid TOML: {error}.", suggestions=("Correct the file.",)) from None


def _variables(environ: Mapping[str, str]) -> Mapping[str, object]:
    """The variables that are ours. An empty one was not given: that is how a variable is cleared in most places."""
    return {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and name != PATH_VARIABLE and value != ""
    }


def _read(values: Mapping[str, object], source: str, prefix: str = "") -> dict[str, object]:
    return {name: _value(name, value, source, prefix) for name, value in values.items()}


def _value(name: str, value: object, source: str, prefix: str) -> object:
    shown = prefix + name.upper() if prefix else name
    reader = _READERS.get(name)
    if reader is None:
        _refuse_unknown(name, shown, source, prefix)
    try:
        return reader.read(value)
    except (ValueError, TypeError, OverflowError):
        raise ParseError(
            f"The setting `{shown}` from {source} cannot be {value!r:.60}.", suggestions=(f"Write {reader.kind}.",)
        ) from None


def _refuse_unknown(name: str, shown: str, source: str, prefix: str) -> NoReturn:
    near = get_close_matches(name, _READERS, n=1)
    known = [prefix + key.upper() if prefix else key for key in near or _READERS]
    suggestion = f"Did you mean `{known[0]}`?" if near else f"Known settings: {', '.join(known)}."
    raise ParseError(f"There is no setting `{shown}` ({source}).", suggestions=(suggestion,))
