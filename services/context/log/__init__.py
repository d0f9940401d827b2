"""The assembly log: why an agent saw what it saw, and what it used of it."""
