"""API keys: who a bearer token is, what it may do and how much of it, and how keys are made and withdrawn."""

from services.context.keys.verification import DEFAULT_TENANT, Keys, hash_token

__all__ = ["DEFAULT_TENANT", "Keys", "hash_token"]
