"""Clocks of services do not matter."""
