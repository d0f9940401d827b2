from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.context.gateway.passing.holding import HeldLimits
from services.context.gateway.passing.paging import PagingSettings
from services.context.gateway.passing.refusals import Api
from shared.settings import Env
from shared.web.door.streams import StreamLimits

_MEBIBYTE = 1_048_576


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    providers: Mapping[Api, str] = field(
        default_factory=lambda: {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com"}
    )
    """Where requests go. A caller has no say in it."""
    body_bytes: int = 32 * _MEBIBYTE
    """The largest request."""
    open: StreamLimits = field(default_factory=lambda: StreamLimits(512, 1_024, 2_048))
    """The most requests under way in a process."""
    held: HeldLimits = field(default_factory=lambda: HeldLimits(128 * _MEBIBYTE, 512 * _MEBIBYTE))
    paging: PagingSettings = field(default_factory=PagingSettings)

    @classmethod
    def from_env(cls, env: Env) -> GatewaySettings:
        base = cls()
        return cls(
            providers={
                "anthropic": env.text("SCRUBJAY_GATEWAY_ANTHROPIC_URL", base.providers["anthropic"]),
                "openai": env.text("SCRUBJAY_GATEWAY_OPENAI_URL", base.providers["openai"]),
            },
            body_bytes=env.integer("SCRUBJAY_GATEWAY_BODY_BYTES", base.body_bytes, 1_024, 256 * _MEBIBYTE),
            open=StreamLimits(
                per_key=env.integer("SCRUBJAY_GATEWAY_REQUESTS_PER_KEY", 512, 1, 100_000),
                per_tenant=env.integer("SCRUBJAY_GATEWAY_REQUESTS_PER_TENANT", 1_024, 1, 100_000),
                total=env.integer("SCRUBJAY_GATEWAY_REQUESTS", 2_048, 1, 100_000),
            ),
            paging=PagingSettings(
                is_on=env.choice("SCRUBJAY_GATEWAY_PAGING", "on", ("on", "off")) == "on",
                control=env.number("SCRUBJAY_GATEWAY_UNPAGED_SHARE", 0.05, 0.0, 1.0),
            ),
        )
