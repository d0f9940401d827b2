"""The agent-memory service owns what each agent has learned.

It promises that two identical commits leave one row, that agents write only their own memories, that peers never see
private memories, and that reading a peer's memories does not change them.
"""
