"""One turn of a conversation: from a message to its answer."""
