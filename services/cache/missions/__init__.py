"""Missions and their entries: write, query, budgets, expiry."""
