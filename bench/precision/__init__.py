"""How much of a block is wanted, and how much of what is wanted is in it."""
