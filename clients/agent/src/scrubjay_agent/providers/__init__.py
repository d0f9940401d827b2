"""What speaks to models."""
