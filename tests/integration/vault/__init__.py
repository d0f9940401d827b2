"""Files of the vault, and what the index makes of them."""
