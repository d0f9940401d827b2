"""Commits and edits: one row per agent, user and fact, in whatever order vectors arrive."""
