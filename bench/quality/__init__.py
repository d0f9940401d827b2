"""Retrieval quality through assemble, on data sets with known answers."""
