"""Erases a scope, or an agent's or a user's rows, from every service."""
