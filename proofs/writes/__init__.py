"""An acknowledged write is never lost."""
