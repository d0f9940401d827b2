"""Brings what other systems remember into Scrubjay: `scrubjay import`."""
