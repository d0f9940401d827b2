"""Costs and ceilings through the API."""
