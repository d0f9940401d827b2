"""The agent-memory service owns what each agent learned.

It promises that of two identical commits one row stays, that agents write their own memories only, that private
memories are never shown to peers, and that reading a peer's memories leaves no trace on them.
"""
