"""The trail of a session stands kills."""
