"""What reviewers see of entries, and what they do with them."""
