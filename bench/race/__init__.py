"""Scrubjay beside other memories for agents: same conversations, same vectors, same Postgres."""
