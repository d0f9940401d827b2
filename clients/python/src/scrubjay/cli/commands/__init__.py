"""One module for the commands of each kind."""
