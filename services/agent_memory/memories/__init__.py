"""Memories: what each agent has learned. Commit without duplicates, search, edit, transfer."""
