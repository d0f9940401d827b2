"""A full disk loses nothing."""
