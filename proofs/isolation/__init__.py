"""No key reaches what its bounds do not, and no tenant another."""
