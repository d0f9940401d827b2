"""What an object of a session has to do with another."""
