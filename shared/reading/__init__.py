"""What a text says, read without a database. Pure."""
