"""One tenant cannot stop the others."""
