from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from pagekeep import NotFound, ParseError, config
from pagekeep.config import Settings


def load(tmp_path: Path, toml: str = "", environ: dict[str, str] | None = None, **flags: object) -> Settings:
    path = tmp_path / "config.toml"
    path.write_text(toml, encoding="utf-8")
    return config.load(flags, environ or {}, path)


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    settings = config.load(environ={"XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)})
    assert settings == Settings()
    assert (settings.timeout, settings.max_bytes, settings.max_redirects) == (15.0, 10_000_000, 10)
    assert settings.user_agent.startswith("Pagekeep/")


def test_a_flag_wins_over_the_environment_over_the_file_over_the_default(tmp_path: Path) -> None:
    toml = "timeout = 1\nretries = 1\nmax_redirects = 1"
    environ = {"PAGEKEEP_TIMEOUT": "2", "PAGEKEEP_RETRIES": "2"}
    settings = load(tmp_path, toml, environ, timeout=3)
    assert (settings.timeout, settings.retries, settings.max_redirects, settings.browser_pages) == (3, 2, 1, 100)


def test_a_flag_that_is_none_was_not_given(tmp_path: Path) -> None:
    assert load(tmp_path, "timeout = 4", timeout=None).timeout == 4


def test_lists_are_read_from_text_and_from_toml(tmp_path: Path) -> None:
    environ = {"PAGEKEEP_ALLOW_HOSTS": "127.0.0.1, intranet.example,"}
    assert load(tmp_path, environ=environ).allow_hosts == ("127.0.0.1", "intranet.example")
    assert load(tmp_path, 'allow_hosts = ["a.example", "10.0.0.0/8"]').allow_hosts == ("a.example", "10.0.0.0/8")


def test_an_empty_variable_was_not_given(tmp_path: Path) -> None:
    assert load(tmp_path, "timeout = 4", {"PAGEKEEP_TIMEOUT": ""}).timeout == 4


def test_numbers_are_read_as_people_write_them(tmp_path: Path) -> None:
    settings = load(tmp_path, environ={"PAGEKEEP_MAX_BYTES": "5_000_000", "PAGEKEEP_PER_HOST_DELAY": "0"})
    assert (settings.max_bytes, settings.per_host_delay) == (5_000_000, 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("timeout", value) for value in ("0", "-1", "nan", "inf", "soon", True, [1])],
        *[("max_bytes", value) for value in ("0", "-5", "1.5", 1.5, True, "many")],
        *[("max_redirects", value) for value in ("-1", "x", 1.0)],
        *[("render", value) for value in ("always", 1, "AUTO")],
        *[("user_agent", value) for value in ("", "  ", "a\r\nb", 5)],
        *[("allow_hosts", value) for value in (5, [5], ["a\nb"])],
    ],
)
def test_a_bad_value_is_refused_with_its_name_and_what_to_write(tmp_path: Path, name: str, value: object) -> None:
    with pytest.raises(ParseError) as caught:
        load(tmp_path, **{name: value})
    assert f"`{name}`" in caught.value.message
    assert caught.value.suggestions[0].startswith("Use ")


def test_a_fault_names_its_source(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"`timeout` in config\.toml"):
        load(tmp_path, "timeout = -1")
    with pytest.raises(ParseError, match="`PAGEKEEP_TIMEOUT` in the environment"):
        load(tmp_path, environ={"PAGEKEEP_TIMEOUT": "x"})


@pytest.mark.parametrize(
    ("toml", "environ", "known"),
    [("alow_hosts = []", {}, "allow_hosts"), ("", {"PAGEKEEP_TIMEOUTS": "3"}, "PAGEKEEP_TIMEOUT")],
)
def test_an_unknown_key_is_refused_and_the_likely_one_named(
    tmp_path: Path, toml: str, environ: dict[str, str], known: str
) -> None:
    with pytest.raises(ParseError) as caught:
        load(tmp_path, toml, environ)
    assert caught.value.suggestions == (f"Did you mean `{known}`?",)


def test_an_unknown_key_like_no_other_is_answered_with_all(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        load(tmp_path, "zzz = 1")
    assert "allow_hosts" in caught.value.suggestions[0]


@pytest.mark.parametrize("data", [b"timeout = ", b"\xff\xfe", b"a = 1\na = 2"])
def test_a_broken_file_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "config.toml").write_bytes(data)
    with pytest.raises(ParseError, match="not valid TOML"):
        config.load({}, {}, tmp_path / "config.toml")


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        config.load({}, {}, tmp_path / "none.toml")
    with pytest.raises(NotFound):
        config.load({}, {"PAGEKEEP_CONFIG": str(tmp_path / "none.toml")})


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError):
        config.load({}, {}, tmp_path)


def test_the_file_is_found_where_the_environment_says(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("retries = 7")
    assert config.load({}, {"PAGEKEEP_CONFIG": str(tmp_path / "mine.toml")}).retries == 7
    (tmp_path / "pagekeep").mkdir()
    (tmp_path / "pagekeep" / "config.toml").write_text("retries = 8")
    assert config.load({}, {"XDG_CONFIG_HOME": str(tmp_path)}).retries == 8


@pytest.mark.parametrize(
    ("platform", "part"), [("linux", "conf"), ("win32", "roam"), ("darwin", "Application Support")]
)
def test_each_platform_has_its_folder(platform: str, part: str) -> None:
    path = config.default_path({"XDG_CONFIG_HOME": "conf", "APPDATA": "roam"}, platform)
    assert part in path.parts
    assert path.parts[-2:] == ("pagekeep", "config.toml")


def test_the_table_shows_every_setting() -> None:
    table = config.table()
    assert [row.name for row in table] == [entry.name for entry in fields(Settings)]
    for row in table:
        assert row.help.endswith(".")
        assert row.kind
        assert row.variable == f"PAGEKEEP_{row.name.upper()}"
        assert row.default == getattr(Settings(), row.name)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().timeout = 3  # type: ignore[misc]


def test_own_rules_are_beside_the_settings_unless_a_folder_is_named(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    beside = config.default_path(environ).parent / "rules"
    assert config.rules_folder(Settings(), environ) == beside
    assert config.rules_folder(load(tmp_path, 'rules = "elsewhere"'), environ) == Path("elsewhere")


def test_jina_is_another_name_of_the_remote_mode(tmp_path: Path) -> None:
    assert load(tmp_path, 'mode = "jina"').mode == "remote"
    assert load(tmp_path, environ={"PAGEKEEP_MODE": "jina"}).mode == "remote"
