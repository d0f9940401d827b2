"""Dispatches: pieces of work given to agents. What an agent writes for one keeps it alive."""
