"""Scrubjay behind the interfaces of agent frameworks: one module each, which needs the extra of its name."""
