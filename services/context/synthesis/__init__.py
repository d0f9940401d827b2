"""Context in connected sentences, which the helper model writes of the items of a block."""
