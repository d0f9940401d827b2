"""What is learned from conversations without a model, and what it does to the search beside them."""
