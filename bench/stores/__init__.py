"""What assemble costs over all five stores and the graph."""
