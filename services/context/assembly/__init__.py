"""A block of context: asked for, searched in every store, ranked, packed and logged."""
