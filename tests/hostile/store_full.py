"""The disk fills up: a clear error, nothing lost, and saving goes on once there is space (S3).

`python -m tests.hostile.store_full [--full] [--engine sqlite|postgres]`. Where a small file system can be mounted it is
filled; elsewhere SQLite's files are limited in size. PostgreSQL has its raw pages on the small file system.
"""

from __future__ import annotations

import os
import resource
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pagekeep.errors import StoreError
from pagekeep.model import ItemBlob
from pagekeep.store import Store, open_store
from tests.hostile.store_places import USER, faults_of, page, run_script, start
from tests.store.making import NOW, make_raw, postgres_server

SIZE = 6_000_000
DiskAttack = Callable[[int], list[str] | None]


@contextmanager
def small_disk() -> Iterator[Path | None]:
    """A file system of six megabytes, or `None` where none may be mounted."""
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder]
        if os.geteuid() != 0 or not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
            yield None
            return
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def fill_and_recover(library: Store, free: Callable[[], None], count: int) -> list[str]:
    """Save until it fails, free some space, save again."""
    saved, error = 0, None
    while error is None and saved < 10_000:
        item, raw = page(saved)
        try:
            kept = library.items.save(item, raw)
            name = library.blobs.put(secrets.token_bytes(30_000), NOW)
            library.blobs.link(
                kept.id, [ItemBlob("picture", "https://x.example", "kept", NOW, "image/png", name, 30_000)]
            )
            # Noise cannot be packed: the disk is full soon.
            library.items.save(*_heavy(100_000 + saved))
            saved += 1
        except StoreError as caught:
            error = caught
    if error is None:
        return ["the disk was never full"]
    faults = [] if "disk" in error.message.lower() else [f"the error says: {error.message}"]
    for number in range(min(saved, count)):
        faults += faults_of(library, number)
    free()
    library.items.save(*page(saved + 1))
    return faults + faults_of(library, saved + 1) + library.check()


def _heavy(number: int) -> tuple:  # type: ignore[type-arg]
    return page(number)[0], make_raw(secrets.token_bytes(100_000))


def on_small_disk(count: int) -> list[str] | None:
    """SQLite on a disk that is full; `None` where that cannot be tried."""
    with small_disk() as disk:
        if disk is None:
            return None
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(2_000_000))
        with closing(open_store(disk / "library.db", USER)) as library:
            return fill_and_recover(library, ballast.unlink, count)


def with_small_files(where: str, count: int) -> list[str]:
    """SQLite whose files may not grow. In its own process, since the limit holds for all of it."""
    reading, writing = os.pipe()
    process = start(_limited, where, writing, count)
    os.close(writing)
    with os.fdopen(reading) as file:
        reported = file.read()
    process.join()
    return [line for line in reported.splitlines() if line != "done"] + (
        [] if "done" in reported else ["the process died"]
    )


def _limited(where: str, pipe: int, count: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    library = open_store(where, USER)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SIZE, hard))
    faults = fill_and_recover(library, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard)), count)
    os.write(pipe, "\n".join([*faults, "done"]).encode())


def on_postgres(count: int) -> list[str] | None:
    """PostgreSQL whose raw pages are on a disk that is full; `None` where that cannot be tried."""
    import psycopg

    with small_disk() as disk, postgres_server() as server:
        if disk is None:
            return None
        data = server.owner.split("host=")[1]
        disk.chmod(0o777)
        ballast, space = disk / "ballast", disk / "space"
        space.mkdir()
        os.chown(space, Path(data).stat().st_uid, Path(data).stat().st_gid)
        ballast.write_bytes(bytes(2_000_000))
        with psycopg.connect(server.owner, autocommit=True) as owner:
            owner.execute(f"CREATE TABLESPACE small LOCATION '{space}'")
            owner.execute("ALTER TABLE pagekeep.raw_bodies SET TABLESPACE small")
            owner.execute("ALTER TABLE pagekeep.blobs SET TABLESPACE small")
        with closing(open_store(server.app, USER)) as library:
            faults = fill_and_recover(library, ballast.unlink, count)
        with psycopg.connect(server.owner, autocommit=True) as owner:
            owner.execute("ALTER TABLE pagekeep.raw_bodies SET TABLESPACE pg_default")
            owner.execute("ALTER TABLE pagekeep.blobs SET TABLESPACE pg_default")
            owner.execute("DROP TABLESPACE small")
        return faults


def attack(where: str, count: int) -> list[str]:
    """Both ways on SQLite, the one that there is on PostgreSQL."""
    if where.startswith("postgres"):
        tried = on_postgres(count)
        return ["no small disk can be mounted"] if tried is None else tried
    return with_small_files(where, count) + (on_small_disk(count) or [])


if __name__ == "__main__":
    run_script(attack, 10, 1_000)
