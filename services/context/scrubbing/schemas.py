from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shared.body import Body

Policy = Literal["mask", "refuse", "allow"]
POLICIES: tuple[Policy, ...] = ("mask", "refuse", "allow")


class Masked(msgspec.Struct):
    """A secret that was masked before anything was done with the request."""

    field: str
    """Where it was: the dotted path of the field."""
    kind: str
    """Such as `github token`. The mask names it, too."""


class PolicyInput(Body, kw_only=True):
    policy: Annotated[
        Policy | None,
        Meta(description="What becomes of secrets. Without one, the installation's default holds again."),
    ] = None


class SecretPolicy(msgspec.Struct):
    """What becomes of secrets in what the tenant's callers send."""

    policy: Policy
    """`mask`: each is replaced by its kind. `refuse`: the request is answered 422. `allow`: they stay."""
    origin: Literal["tenant", "installation"]
    """Whether the tenant has a policy of its own, or the default holds."""
