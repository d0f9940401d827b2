"""The state machines on which everything rests, in every interleaving of a few actors."""
