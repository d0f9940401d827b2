"""Answers that bring a session only what is new, and what has changed."""
