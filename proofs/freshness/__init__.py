"""What is hot is never stale."""
