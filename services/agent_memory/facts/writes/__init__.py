"""Statements of facts, and what they change of what was believed before."""
