from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.context.gateway.passing.settings import GatewaySettings
from services.context.keys.schemas import NO_LIMITS, Limits
from services.context.mcp.catalog import TOOLSETS
from services.context.rerank import RerankSettings
from services.context.scrubbing.schemas import POLICIES, Policy
from shared.addresses import Reach, networks
from shared.auth import Access
from shared.embeddings import EmbeddingSettings
from shared.llm import HelperSettings, HelperVariables, helper_from_env
from shared.settings import LINGER_SECONDS, Env
from shared.spending.prices import Prices, bundled
from shared.telemetry import log
from shared.telemetry.scraping import Scraping
from shared.telemetry.tracing import TracingSettings
from shared.web.door.streams import StreamLimits

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


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
    cache_secrets: tuple[str, ...] = field(repr=False)
    agent_memory_secrets: tuple[str, ...] = field(repr=False)
    query_hash_secret: str = field(repr=False)
    """Keys the hashes of queries in the log. By default the first of `cache_secrets`."""
    cache_url: str
    agent_memory_url: str
    embedding: EmbeddingSettings
    rerank: RerankSettings = field(default_factory=RerankSettings)
    tokens: Mapping[Access, str] = field(default_factory=dict, repr=False)
    """Tokens from the environment, for installations with one tenant."""
    host: str = "127.0.0.1"
    port: int = 8080
    connections: int = 8
    in_flight: int = 64
    linger_seconds: float = LINGER_SECONDS
    default_budget: int = 4_000
    max_budget: int = 16_000
    remember_ttl_hours: float = 30 * 24.0
    """How long a mission keeps what it is told to remember."""
    key_limits: Limits = NO_LIMITS
    """The default limits of keys."""
    key_ttl_days: float | None = None
    """How long a new key is valid that names no end. None: until somebody revokes it."""
    scrubbing: Policy = "mask"
    """What becomes of secrets in what callers send, for tenants without a policy of their own."""
    streams: StreamLimits = field(default_factory=StreamLimits)
    """The most event streams that a process keeps open."""
    gateway: GatewaySettings = field(default_factory=GatewaySettings)
    prices: Prices = field(default_factory=bundled)
    consolidate_seconds: float = 0.0
    """How long a session is silent until it is consolidated unasked. 0: only sessions for which a caller wants it."""
    helper: HelperSettings = field(default_factory=HelperSettings)
    log_level: str = "INFO"
    tracing: TracingSettings = field(default_factory=TracingSettings)
    scraping: Scraping = field(default_factory=Scraping)
    public_url: str | None = None
    """The address that agents use, if their requests do not show it."""
    mcp_toolset: tuple[str, ...] = ("default",)
    mcp_hosts: tuple[str, ...] = ()
    """The host names that MCP accepts, against DNS rebinding. By default any, or only loopback names if it listens on
    loopback."""
    webhook_reach: Reach = field(default_factory=Reach)
    """Where webhooks may send besides public addresses over TLS."""

    @classmethod
    def from_env(cls, values: Mapping[str, str] | None = None) -> Settings:
        """Raises SettingsError, which names what is missing or wrong."""
        env = Env(values)
        names: dict[Access, str] = {
            "read": "SCRUBJAY_READ_TOKEN",
            "write": "SCRUBJAY_WRITE_TOKEN",
            "admin": "SCRUBJAY_ADMIN_TOKEN",
        }
        host = env.text("SCRUBJAY_HOST", "127.0.0.1")
        cache_secrets = env.secrets("SCRUBJAY_CACHE_SECRET")
        settings = cls(
            database_url=env.text("DATABASE_URL"),
            redis_url=env.text("REDIS_URL"),
            cache_secrets=cache_secrets,
            agent_memory_secrets=env.secrets("SCRUBJAY_AGENT_MEMORY_SECRET"),
            query_hash_secret=env.optional("SCRUBJAY_QUERY_HASH_SECRET") or ",".join(cache_secrets[:1]),
            cache_url=env.text("SCRUBJAY_CACHE_URL").rstrip("/"),
            agent_memory_url=env.text("SCRUBJAY_AGENT_MEMORY_URL").rstrip("/"),
            embedding=EmbeddingSettings.from_env(values),
            rerank=RerankSettings.from_env(values),
            tokens={access: token for access, name in names.items() if (token := env.optional(name))},
            host=host,
            port=env.integer("SCRUBJAY_PORT", 8080, 1, 65535),
            connections=env.integer("SCRUBJAY_DB_CONNECTIONS", 8, 2, 100),
            in_flight=env.integer("SCRUBJAY_IN_FLIGHT", 64, 1, 10_000),
            linger_seconds=env.number("SCRUBJAY_LINGER_SECONDS", LINGER_SECONDS, 0, 5),
            default_budget=env.integer("SCRUBJAY_DEFAULT_BUDGET", 4_000, 100, 16_000),
            max_budget=env.integer("SCRUBJAY_MAX_BUDGET", 16_000, 100, 16_000),
            remember_ttl_hours=env.number("SCRUBJAY_REMEMBER_TTL_HOURS", 30 * 24.0, 0.001, 24 * 366),
            consolidate_seconds=env.number("SCRUBJAY_CONSOLIDATE_SECONDS", 0, 0, 30 * 86_400),
            key_limits=Limits(
                requests_per_second=env.number("SCRUBJAY_KEY_REQUESTS_PER_SECOND", 0, 0, 1e6) or None,
                burst=env.integer("SCRUBJAY_KEY_BURST", 0, 0, 1_000_000) or None,
                requests_per_day=env.integer("SCRUBJAY_KEY_REQUESTS_PER_DAY", 0, 0, 2**53) or None,
                tokens_per_day=env.integer("SCRUBJAY_KEY_TOKENS_PER_DAY", 0, 0, 2**53) or None,
            ),
            scrubbing=env.choice("SCRUBJAY_SECRETS", "mask", POLICIES),  # type: ignore[arg-type]
            streams=StreamLimits(
                per_key=env.integer("SCRUBJAY_STREAMS_PER_KEY", 32, 1, 10_000),
                per_tenant=env.integer("SCRUBJAY_STREAMS_PER_TENANT", 128, 1, 10_000),
                total=env.integer("SCRUBJAY_STREAMS", 256, 1, 10_000),
            ),
            gateway=GatewaySettings.from_env(env),
            key_ttl_days=key_ttl_days(env),
            prices=Prices.from_env(env),
            helper=helper_from_env(env, HELPER),
            log_level=env.choice("SCRUBJAY_LOG_LEVEL", "INFO", log.LEVELS),
            tracing=TracingSettings.from_env(values),
            scraping=Scraping.from_env(env, host),
            public_url=(env.optional("SCRUBJAY_PUBLIC_URL") or "").rstrip("/") or None,
            mcp_toolset=env.names("SCRUBJAY_MCP_TOOLSET", TOOLSETS) or ("default",),
            mcp_hosts=env.names("SCRUBJAY_MCP_HOSTS") or (_LOOPBACK if host in _LOOPBACK else ()),
            webhook_reach=webhook_reach(env),
        )
        env.done()
        return settings


def key_ttl_days(env: Env) -> float | None:
    """The command line reads it, too."""
    return env.number("SCRUBJAY_KEY_TTL_DAYS", 0, 0, 36_500) or None


def webhook_reach(env: Env) -> Reach:
    http = env.choice("SCRUBJAY_WEBHOOK_HTTP", "no", ("yes", "no")) == "yes"
    try:
        return Reach(networks(env.names("SCRUBJAY_WEBHOOK_PRIVATE")), http)
    except ValueError as error:
        env.refuse(f"SCRUBJAY_WEBHOOK_PRIVATE must hold networks such as 10.0.0.0/8: {error}")
        return Reach()
