"""Servers, providers and resolvers of others as attackers, in small counts; `make hostile` has the full ones."""

from __future__ import annotations

import pytest
from argon2 import PasswordHasher

from pagekeep.identity import accounts
from tests.hostile import dns_rebinding, mail_servers, openid_providers, session_fixation, webhook_targets
from tests.hostile.store_places import attack_on


@pytest.fixture(autouse=True)
def _quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes of passwords are slow on purpose; the servers here run in this process."""
    monkeypatch.setattr(accounts, "_hasher", lambda: PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.full)])
def test_hostile_mail_servers_end_with_an_error_and_lose_nothing(engine: str) -> None:
    assert attack_on(engine, mail_servers.attack, 1) == []


def test_receivers_of_webhooks_learn_no_secret_and_lead_nowhere() -> None:
    attacks, faults = webhook_targets.run(full=False)
    assert attacks > 50
    assert faults == []


def test_only_the_right_flow_of_a_provider_signs_in() -> None:
    attacks, faults = openid_providers.run(full=False)
    assert attacks > 50
    assert faults == []


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.full)])
def test_planted_and_old_session_keys_open_nothing(engine: str) -> None:
    assert session_fixation.run(engine, 1)[1] == []


def test_a_name_server_that_lies_leads_to_no_private_address() -> None:
    if not dns_rebinding.is_possible():
        pytest.skip("Rebinding with a resolver is not tested: namespaces of our own are not allowed here.")
    assert ", 0 faults" in dns_rebinding.run(full=False)
