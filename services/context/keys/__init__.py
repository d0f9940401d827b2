"""API keys: who a bearer token belongs to, what it may do and how much, and how to make and revoke keys."""

from services.context.keys.verification import DEFAULT_TENANT, Keys, hash_token

__all__ = ["DEFAULT_TENANT", "Keys", "hash_token"]
