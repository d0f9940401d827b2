"""What waits for a reviewer: whose writes do, one queue of it, and decisions. Owners do the work."""
