"""A slow dependency is not a slow answer."""
