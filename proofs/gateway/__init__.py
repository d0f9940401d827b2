"""Real coding agents through the gateway."""
