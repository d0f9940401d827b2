"""What turns teach with the helper model, whose answer counts only as far as the turns bear it out."""
