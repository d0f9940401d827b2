"""Secrets in texts: the kinds that are known, and how they are found."""
