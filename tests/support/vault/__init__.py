"""Folders of the vault: what tests and proofs put into them, and what the index holds."""
