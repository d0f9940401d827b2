"""Sessions of agents: the context window as a cache of objects."""
