"""Profiles of agents and users: a short text that stands first in every block for its subject."""
