"""Consolidation: learns facts, episodes, commitments and other names from sessions and files, in runs."""
