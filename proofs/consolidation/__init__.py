"""Proves that runs of consolidation survive kills, and learn nothing from what was recalled."""
