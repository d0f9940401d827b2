from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.embeddings import EmbeddingSettings
from shared.llm import HelperSettings, HelperVariables, helper_from_env
from shared.settings import HOT_SCOPES_MB, LINGER_SECONDS, Env
from shared.spending.prices import Prices, bundled
from shared.telemetry import log
from shared.telemetry.scraping import Scraping
from shared.telemetry.tracing import TracingSettings

HELPER = HelperVariables(
    kind="SCRUBJAY_HELPER",
    model="SCRUBJAY_HELPER_MODEL",
    api_key="SCRUBJAY_HELPER_API_KEY",
    base_url="SCRUBJAY_HELPER_BASE_URL",
    timeout="SCRUBJAY_HELPER_TIMEOUT",
    concurrency="SCRUBJAY_HELPER_CONCURRENCY",
)


@dataclass(frozen=True, slots=True)
class Settings:
    database_url: str = field(repr=False)
    redis_url: str = field(repr=False)
    identity_secrets: tuple[str, ...] = field(repr=False)
    embedding: EmbeddingSettings
    helper: HelperSettings = field(default_factory=HelperSettings)
    host: str = "127.0.0.1"
    port: int = 8081
    connections: int = 8
    in_flight: int = 256
    linger_seconds: float = LINGER_SECONDS
    token_budget: int = 10_000
    entry_budget: int = 200
    ttl_hours: float = 24.0
    sweep_minutes: float = 60.0
    stale_minutes: float = 60.0
    hot_scopes_mb: int = HOT_SCOPES_MB
    # The allowed tags; None allows any.
    tags: frozenset[str] | None = None
    prices: Prices = field(default_factory=bundled)
    log_level: str = "INFO"
    tracing: TracingSettings = field(default_factory=TracingSettings)
    scraping: Scraping = field(default_factory=Scraping)

    @classmethod
    def from_env(cls, values: Mapping[str, str] | None = None) -> Settings:
        """Raises SettingsError, which names what is missing or wrong."""
        env = Env(values)
        host = env.text("SCRUBJAY_HOST", "127.0.0.1")
        settings = cls(
            database_url=env.text("DATABASE_URL"),
            redis_url=env.text("REDIS_URL"),
            identity_secrets=env.secrets("SCRUBJAY_CACHE_SECRET"),
            embedding=EmbeddingSettings.from_env(values),
            helper=helper_from_env(env, HELPER),
            host=host,
            port=env.integer("SCRUBJAY_PORT", 8081, 1, 65535),
            connections=env.integer("SCRUBJAY_DB_CONNECTIONS", 8, 2, 100),
            in_flight=env.integer("SCRUBJAY_IN_FLIGHT", 256, 1, 10_000),
            linger_seconds=env.number("SCRUBJAY_LINGER_SECONDS", LINGER_SECONDS, 0, 5),
            token_budget=env.integer("SCRUBJAY_CACHE_TOKEN_BUDGET", 10_000, 100, 100_000_000),
            entry_budget=env.integer("SCRUBJAY_CACHE_ENTRY_BUDGET", 200, 1, 1_000_000),
            ttl_hours=env.number("SCRUBJAY_CACHE_TTL_HOURS", 24.0, 0.001, 24 * 366),
            sweep_minutes=env.number("SCRUBJAY_CACHE_SWEEP_MINUTES", 60.0, 0.001, 24 * 60),
            stale_minutes=env.number("SCRUBJAY_DISPATCH_STALE_MINUTES", 60.0, 0.001, 24 * 60),
            hot_scopes_mb=env.integer("SCRUBJAY_HOT_SCOPES_MB", HOT_SCOPES_MB, 0, 100_000),
            tags=_names(env.optional("SCRUBJAY_CACHE_TAGS")),
            prices=Prices.from_env(env),
            log_level=env.choice("SCRUBJAY_LOG_LEVEL", "INFO", log.LEVELS),
            tracing=TracingSettings.from_env(values),
            scraping=Scraping.from_env(env, host),
        )
        env.done()
        return settings


def _names(listed: str | None) -> frozenset[str] | None:
    """Parses a comma-separated list."""
    if listed is None:
        return None
    return frozenset(name for part in listed.split(",") if (name := part.strip()))
