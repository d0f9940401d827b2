"""Sends chosen events of the timeline to the URLs of their receivers."""
