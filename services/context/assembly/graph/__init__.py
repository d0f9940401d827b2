"""The facts that a block shows of the question's entities."""
