"""Work beside the requests: repeated tasks, batches, and a breaker around what fails."""
