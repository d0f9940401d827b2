"""Transcripts of coding agents: what was said and done in their sessions becomes episodes."""
