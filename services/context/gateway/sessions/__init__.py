"""What a session's requests hold otherwise than its host sends them, from one request to the next."""
