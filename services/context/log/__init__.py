"""The log of assemblies: why an agent saw what it saw, and what came of it."""
