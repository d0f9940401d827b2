"""Checkpoints: the states of graphs that frameworks save, thread by thread, until they expire."""
