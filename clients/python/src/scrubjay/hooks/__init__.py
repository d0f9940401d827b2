"""Hooks of coding agents. They load the standard library only: a host waits for each of them."""
