"""One call that stores what was said in the right place, for callers who do not want to choose a type."""
