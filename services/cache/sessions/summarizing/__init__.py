"""Makes objects' summaries in the background."""
