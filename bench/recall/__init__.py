"""Recall and speed of search over many memories."""
