"""What Markdown notes state as facts: the fields of their front matter, and their links."""
