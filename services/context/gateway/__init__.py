"""Between a host and its model provider: calls pass as they came, and long sessions are paged."""
