"""Model APIs, and what they say, for tests of the gateway."""
