"""What reviewers decide: whose writes wait, what waits at each owner, and what became of it."""
