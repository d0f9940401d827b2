"""Degraded answers are named."""
