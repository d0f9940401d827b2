"""What sentences say: facts, preferences, promises and their times. English, and pure."""
