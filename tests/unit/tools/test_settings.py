from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from services.agent_memory.settings import Settings as AgentMemorySettings
from services.cache.settings import Settings as CacheSettings
from services.context.settings import Settings as ContextSettings
from shared.settings import Env, SettingsError

COMMON = {
    "DATABASE_URL": "postgresql://db/scrubjay",
    "REDIS_URL": "redis://redis",
}
CACHE = {**COMMON, "SCRUBJAY_CACHE_SECRET": "cache-secret"}
AGENT_MEMORY = {**COMMON, "SCRUBJAY_AGENT_MEMORY_SECRET": "memory-secret,next-secret"}
CONTEXT = {
    **CACHE,
    **AGENT_MEMORY,
    "SCRUBJAY_CACHE_URL": "http://cache:8081/",
    "SCRUBJAY_AGENT_MEMORY_URL": "http://memory:8082",
    "SCRUBJAY_READ_TOKEN": "read-secret",
}
SERVICES = pytest.mark.parametrize(
    ("kind", "required"),
    [(CacheSettings, CACHE), (AgentMemorySettings, AGENT_MEMORY), (ContextSettings, CONTEXT)],
)


def problems(from_env: Callable[[dict[str, str]], Any], values: dict[str, str]) -> str:
    with pytest.raises(SettingsError) as caught:
        from_env(values)
    return str(caught.value)


@SERVICES
def test_what_is_missing_is_named_all_at_once(kind: Any, required: dict[str, str]) -> None:
    told = problems(kind.from_env, {})
    assert all(f"{name} is missing" in told for name in required if name != "SCRUBJAY_READ_TOKEN")


@SERVICES
def test_defaults_are_enough(kind: Any, required: dict[str, str]) -> None:
    settings = kind.from_env(required)
    assert settings.host == "127.0.0.1"
    assert settings.database_url == COMMON["DATABASE_URL"]
    assert settings.embedding.provider == "local"


@SERVICES
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SCRUBJAY_PORT", "eighty"),
        ("SCRUBJAY_PORT", "0"),
        ("SCRUBJAY_PORT", "65536"),
        ("SCRUBJAY_PORT", "8080.5"),
        ("SCRUBJAY_PORT", "nan"),
        ("SCRUBJAY_PORT", "inf"),
        ("SCRUBJAY_DB_CONNECTIONS", "-1"),
        ("SCRUBJAY_IN_FLIGHT", "1e300"),
        ("SCRUBJAY_LOG_LEVEL", "LOUD"),
        ("SCRUBJAY_EMBEDDER", "oracle"),
    ],
)
def test_what_is_wrong_is_named(kind: Any, required: dict[str, str], name: str, value: str) -> None:
    assert name in problems(kind.from_env, {**required, name: value})


@pytest.mark.parametrize(
    "name",
    ["SCRUBJAY_CACHE_TOKEN_BUDGET", "SCRUBJAY_CACHE_ENTRY_BUDGET", "SCRUBJAY_CACHE_TTL_HOURS"],
)
def test_budgets_are_positive(name: str) -> None:
    assert name in problems(CacheSettings.from_env, {**CACHE, name: "0"})


def test_the_budgets_of_the_seed_are_the_defaults() -> None:
    settings = CacheSettings.from_env(CACHE)
    assert (settings.token_budget, settings.entry_budget) == (10_000, 200)
    assert (settings.ttl_hours, settings.sweep_minutes) == (24, 60)


@SERVICES
def test_secrets_are_not_shown(kind: Any, required: dict[str, str]) -> None:
    shown = repr(kind.from_env(required))
    assert "secret" not in shown
    assert COMMON["DATABASE_URL"] not in shown


@pytest.mark.parametrize("empty", ["", ",", " , "])
def test_an_empty_secret_is_refused(empty: str) -> None:
    """Anybody could sign with an empty one."""
    assert "SCRUBJAY_CACHE_SECRET" in problems(
        CacheSettings.from_env, {**CACHE, "SCRUBJAY_CACHE_SECRET": empty}
    )


def test_secrets_are_a_list() -> None:
    assert AgentMemorySettings.from_env(AGENT_MEMORY).identity_secrets == ("memory-secret", "next-secret")


def test_queries_are_hashed_with_a_secret_of_the_installation() -> None:
    first = ContextSettings.from_env({**CONTEXT, "SCRUBJAY_CACHE_SECRET": "new,old"})
    assert first.query_hash_secret == "new"
    own = ContextSettings.from_env({**CONTEXT, "SCRUBJAY_QUERY_HASH_SECRET": "lasting"})
    assert own.query_hash_secret == "lasting"


def test_no_token_is_no_access() -> None:
    assert dict(ContextSettings.from_env(CONTEXT).tokens) == {"read": "read-secret"}
    assert dict(ContextSettings.from_env({**CONTEXT, "SCRUBJAY_READ_TOKEN": ""}).tokens) == {}


def test_an_address_has_no_slash_at_its_end() -> None:
    assert ContextSettings.from_env(CONTEXT).cache_url == "http://cache:8081"


def test_every_problem_is_collected() -> None:
    env = Env({"B": "x", "C": "9"})
    assert env.text("A") == ""
    assert env.number("B", 1.5, 0, 2) == 1.5
    env.integer("C", 1, 1, 8)
    assert env.integer("D", 4, 1, 8) == 4
    assert env.optional("E") is None
    with pytest.raises(SettingsError) as caught:
        env.done()
    assert [problem.split()[0] for problem in caught.value.problems] == ["A", "B", "C"]


def test_a_refusal_ends_the_process() -> None:
    assert issubclass(SettingsError, SystemExit)
    Env({}).done()
