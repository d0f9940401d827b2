"""What is wrong with a value of a request: every error at once, in words of our own. Pure."""
