"""What the log keeps of a query: a keyed hash, so that a guess can be checked only with the secret."""

from __future__ import annotations

import hmac

_PURPOSE = b"query hash\0"


def query_hash(secret: str, tenant: str, query: str) -> str:
    """HMAC-SHA256 under the tenant's own key, as hex."""
    key = hmac.digest(secret.encode(), _PURPOSE + tenant.encode(), "sha256")
    return hmac.digest(key, query.encode(), "sha256").hex()
