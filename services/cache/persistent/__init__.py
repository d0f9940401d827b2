"""What is kept of sessions' objects for their users: it outlives the sessions, and fades unless it is reinforced."""
