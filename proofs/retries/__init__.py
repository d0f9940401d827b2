"""A retried write happens once."""
