"""Paging never corrupts (P15). Run as `python -m proofs.paging`."""
