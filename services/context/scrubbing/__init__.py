"""Secrets in what callers send: found by the door, and masked or refused as their tenant wishes."""
