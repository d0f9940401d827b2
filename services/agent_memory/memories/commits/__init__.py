"""Commits and edits: one row a fact, user and agent, whatever the order in which vectors arrive."""
