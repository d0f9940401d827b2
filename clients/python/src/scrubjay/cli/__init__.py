"""The command line: `scrubjay`."""
