"""Entries of missions: writing, reading, search."""
