"""Writes what was learned as facts, other names, episodes and commitments."""
