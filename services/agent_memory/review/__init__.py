"""What reviewers see of memories, facts and long-term memories, and what they do with them."""
