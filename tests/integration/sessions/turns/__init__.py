"""Turns of a session."""
