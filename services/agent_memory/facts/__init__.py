"""Facts: triples of a subject, a predicate and an object, with the times when they hold and when they were known."""
