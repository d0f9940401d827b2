"""Consolidation: hands the turns of sessions over to what learns from them, without what was recalled."""
