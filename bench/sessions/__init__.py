"""How fast sessions page, and what reading one costs beside its statement alone."""
