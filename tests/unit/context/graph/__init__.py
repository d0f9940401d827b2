"""Which facts a block shows."""
