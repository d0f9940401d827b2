"""What stands before a service: limits, whose turn it is, refusals, and one exchange of request and answer."""
