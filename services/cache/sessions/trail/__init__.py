"""The trail of a session: append-only events, and the state of the conversation that follows from them."""
