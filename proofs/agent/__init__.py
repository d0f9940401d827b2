"""The agent loses and repeats nothing while it is killed."""
