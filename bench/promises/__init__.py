"""Promises of speed, each with its bar."""
