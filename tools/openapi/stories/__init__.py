"""Parts of the story that calls every operation."""
