"""Hostile paths and texts."""
