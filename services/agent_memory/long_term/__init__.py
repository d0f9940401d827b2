"""What is known beyond one mission and one agent: preferences, knowledge, summaries, episodes and commitments."""
