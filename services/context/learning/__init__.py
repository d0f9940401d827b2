"""Weights and budgets, learned from feedback or set by operators."""
