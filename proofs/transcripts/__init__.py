"""Imports of transcripts: killed and run again they end in the same state, and no secret reaches the database."""
