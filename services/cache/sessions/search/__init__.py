"""Search over the objects of a session."""
