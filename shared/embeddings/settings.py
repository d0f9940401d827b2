"""Which embedder to open, read from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from shared.concurrency.cores import cores
from shared.embeddings import band
from shared.embeddings.band import Band
from shared.settings import Env, SettingsError

Provider = Literal["local", "voyage", "openai"]

LOCAL_MODEL = "bge-small-en-v1.5-int8"
MULTILINGUAL_MODEL = "multilingual-e5-small-q4"
"""Local, too. Its package is installed only by those who choose it."""
LOCAL_MODELS = (LOCAL_MODEL, MULTILINGUAL_MODEL)
_DEFAULT_MODEL: dict[Provider, str] = {
    "local": LOCAL_MODEL,
    "voyage": "voyage-4",
    "openai": "text-embedding-3-small",
}


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    provider: Provider = "local"
    model: str = LOCAL_MODEL
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    threads: int = 1
    """The most threads in which the local model embeds batches and the index. By default, there are as many as cores.
    Queries and single texts have threads of their own."""
    query_timeout: float = 2.0
    document_timeout: float = 20.0
    """Both in seconds, for one request including its retries."""
    dedup_distance: float | None = None
    """Overrides the model's default."""
    cosine_band: Band | None = None
    """Overrides the model's, and the floors. `python -m services.cache.calibrate` measures both."""

    @property
    def stored_name(self) -> str:
        """The model's name beside its vectors. Knowing it takes no model."""
        return self.model if self.provider == "local" else f"{self.provider}:{self.model}"

    @property
    def index_workers(self) -> int:
        """How many workers share the index queue. While one stores its vectors, another keeps the local model busy."""
        return min(self.threads, 2) if self.provider == "local" else 1

    @classmethod
    def from_env(cls, values: Mapping[str, str] | None = None) -> EmbeddingSettings:
        """Raises SettingsError, which names what is missing or wrong."""
        env = Env(values)
        voyage_key = env.optional("VOYAGE_API_KEY")
        provider = _provider(env.text("SCRUBJAY_EMBEDDER", "voyage" if voyage_key else "local"))
        model = env.text("SCRUBJAY_EMBEDDING_MODEL", _DEFAULT_MODEL[provider])
        api_key = base_url = None
        if provider == "local" and model not in LOCAL_MODELS:
            raise SettingsError([f"SCRUBJAY_EMBEDDING_MODEL must be {' or '.join(LOCAL_MODELS)}: {model!r}"])
        if provider == "voyage":
            api_key = env.text("VOYAGE_API_KEY")
            base_url = env.optional("VOYAGE_BASE_URL")
        if provider == "openai":
            base_url = env.optional("OPENAI_BASE_URL")
            # A self-hosted endpoint may need no key.
            api_key = env.optional("OPENAI_API_KEY") if base_url else env.text("OPENAI_API_KEY")
        settings = cls(
            provider=provider,
            model=model,
            api_key=api_key,
            base_url=base_url and base_url.rstrip("/"),
            threads=env.integer("SCRUBJAY_EMBEDDING_THREADS", cores(), 1, 64),
            query_timeout=env.number("SCRUBJAY_EMBEDDING_QUERY_TIMEOUT", 2.0, 0.05, 60),
            document_timeout=env.number("SCRUBJAY_EMBEDDING_DOCUMENT_TIMEOUT", 20.0, 0.05, 600),
            dedup_distance=_distance(env),
            cosine_band=band.from_env(env, model),
        )
        env.done()
        return settings


def _provider(name: str) -> Provider:
    for provider in get_args(Provider):
        if name == provider:
            return provider  # type: ignore[no-any-return]
    raise SettingsError([f"SCRUBJAY_EMBEDDER must be one of {', '.join(get_args(Provider))}: {name!r}"])


def _distance(env: Env) -> float | None:
    if env.optional("SCRUBJAY_DEDUP_DISTANCE") is None:
        return None
    return env.number("SCRUBJAY_DEDUP_DISTANCE", 0.0, 0.0, 1.0)
