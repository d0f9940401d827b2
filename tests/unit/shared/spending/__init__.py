"""Prices and payers."""
