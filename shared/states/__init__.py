"""What became of items that somebody was given: an owner compares the states that a caller knows with its own."""
