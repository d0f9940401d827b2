"""Missions: their limits, their statistics, and the expiry of their entries."""
