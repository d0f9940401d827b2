"""Writers of one session, what disturbs them, and what must hold of its trail afterwards."""
