"""The language of each tenant, for texts and questions that are too short to tell."""
