"""The timeline is complete, in order, and can be resumed."""
