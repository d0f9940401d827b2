"""The one call for those who do not want nine types: what they say is put where it belongs."""
