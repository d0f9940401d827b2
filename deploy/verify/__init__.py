"""Checks of the deployment files that need no engine and no cluster."""
