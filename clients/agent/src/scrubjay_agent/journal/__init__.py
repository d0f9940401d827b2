"""What the agent has promised and not yet done, as a trail in Scrubjay."""
