"""Attacks on what lies outside of a key's bounds: every operation and MCP tool, aimed at a victim's rows."""
