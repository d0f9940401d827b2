"""The text of a file, by its format."""
