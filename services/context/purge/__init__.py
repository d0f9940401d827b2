"""Erasing a scope, an agent's or a user's rows from every service."""
