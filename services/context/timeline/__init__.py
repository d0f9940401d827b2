"""The timeline: numbering, pages, streams, and what each agent is doing now."""
