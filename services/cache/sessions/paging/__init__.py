"""What a session keeps in its context, at which fidelity, and what stands there instead. Pure."""
