"""The timeline: numbering, pages, streams, and who is doing what now."""
