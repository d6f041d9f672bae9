"""The library, its backups and the settings belong to their owner alone, whatever the umask (P11)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pagekeep.config import Settings, split_foreign, table

PAGE = "<title>The harbour</title><article><h1>The harbour</h1>" + "<p>Boats lie on their sides at low tide.</p>" * 30
WORK = """
import sys
from pathlib import Path
from pagekeep.config import load
from pagekeep.doors.http.service import server_secret
from pagekeep.store import open_store
home = Path(sys.argv[1])
with open(home / "page.html", "w") as file: file.write(sys.argv[2])
store = open_store(home / "new" / "library.db")
store.blobs.put(b"a kept file", "2025-03-19T10:30:00.000000Z")
store.close()
server_secret(load())
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_no_file_of_ours_is_readable_by_others(tmp_path: Path, umask: int) -> None:
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PAGEKEEP_")},
        "PAGEKEEP_CONFIG": str(tmp_path / "settings" / "config.toml"),
        "PAGEKEEP_LIBRARY": str(tmp_path / "new" / "library.db"),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "XDG_CONFIG_HOME": str(tmp_path / "home"),
    }
    (tmp_path / "settings").mkdir(mode=0o700)
    (tmp_path / "settings" / "config.toml").write_text("timeout = 20\n")

    def run(*command: str) -> None:
        done = subprocess.run(
            [sys.executable, *command], env=environ, capture_output=True, text=True, umask=umask, cwd=tmp_path
        )
        assert done.returncode == 0, done.stdout + done.stderr

    run("-c", WORK, str(tmp_path), PAGE)
    run("-m", "pagekeep", "save", str(tmp_path / "page.html"))
    run("-m", "pagekeep", "backup", str(tmp_path / "kept" / "folder"))
    (tmp_path / "files").mkdir(mode=0o700)
    run("-m", "pagekeep", "backup", "--single-file", str(tmp_path / "files" / "copy.db"))
    environ.pop("PAGEKEEP_CONFIG")  # so that the settings are restored to another place
    run(
        "-m",
        "pagekeep",
        "library",
        "restore",
        str(tmp_path / "kept" / "folder"),
        "--library",
        str(tmp_path / "again" / "library.db"),
    )
    own = [path for name in ("new", "kept", "files", "again", "home") for path in (tmp_path / name).rglob("*")]
    assert len(own) > 12
    assert (tmp_path / "home" / "pagekeep" / "config.toml").read_text() == '"timeout" = 20\n'
    open_to_others = [str(path) for path in own if path.stat().st_mode & 0o077]
    assert open_to_others == []


def test_settings_of_a_foreign_backup_wait_until_they_are_confirmed() -> None:
    harmful = {
        "mail_password_command": "touch /tmp/owned",
        "allow_hosts": ["0.0.0.0/0"],
        "chromium": "/tmp/evil",
        "browser_sandbox": False,
        "library": "/etc/passwd",
        "rules": "/tmp/rules",
        "shared": False,
        "listen": "0.0.0.0:80",
        "trusted_proxies": ["0.0.0.0/0"],
        "webhook_url": "https://evil.example/",
        "remote_url": "https://evil.example/",
        "mode": "remote",
        "openid_issuer": "https://evil.example/",
        "openid_create_users": True,
        "unheard_of": "x",
    }
    import tomllib

    text = "\n".join(
        f"{name} = {_toml(value)}" for name, value in {**harmful, "timeout": 20, "keep_pictures": "hero"}.items()
    )
    safe, waiting = split_foreign((text + '\n[table]\nx = "y"\n').encode())
    assert tomllib.loads(safe) == {"timeout": 20, "keep_pictures": "hero"}
    assert set(waiting) == {*harmful, "table"}
    assert all(f'# "{name}" = ' in safe for name in harmful)


def test_a_text_cannot_leave_its_comment() -> None:
    import tomllib

    safe, _ = split_foreign(b'chromium = """a\nbrowser_sandbox = false\nx"""\n')
    assert tomllib.loads(safe) == {}


def test_only_plain_kinds_are_restored_at_once() -> None:
    """A new setting that is a text, a list or a switch waits, unless it is listed as harmless."""
    lines = [(entry.name, entry.default) for entry in table() if isinstance(entry.default, (bool, int, float, str))]
    _, waiting = split_foreign("\n".join(f"{name} = {_toml(value)}" for name, value in lines).encode())
    texts = {entry.name for entry in table() if isinstance(entry.default, (str, bool))}
    assert set(waiting) == (texts & {name for name, _ in lines}) - {
        *("render", "keep_pictures", "log_level"),
        *("join_pages", "keep_raw", "auto_tags"),
    }
    assert Settings().timeout == 15.0


def _toml(value: object) -> str:
    import json

    return json.dumps(value)
