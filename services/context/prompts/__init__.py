"""Prompts in tiers that a provider can cache."""
