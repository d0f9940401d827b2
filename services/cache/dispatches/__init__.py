"""Dispatches: work given to agents. Entries that an agent writes for a dispatch keep it alive."""
