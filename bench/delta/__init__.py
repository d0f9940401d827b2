"""What a host injects in a session: whole blocks at each step, or only what is new."""
