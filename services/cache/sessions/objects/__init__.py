"""Semantic objects: the pieces of a session's context, each with what stands for it at less than full fidelity."""
