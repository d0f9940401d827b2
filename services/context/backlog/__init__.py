"""What of a tenant waits for its vectors, in every store."""
