"""Blocks in another style than item by item."""
